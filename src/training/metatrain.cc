#include "training/metatrain.h"

#include "training/detail/metatrain_options.h"
#include "training/torch_functions.h"

namespace protocom {

MetatrainResult metatrain(const MetatrainInputs& inputs, const MetatrainOptions& options, const MetatrainFiles& files,
                          Progress& progress) {
  check_metatrain(inputs, options);
  return torch_metatrain(inputs, options, files, progress);
}

}  // namespace protocom
