#include "training/pretrain.h"

#include "base/error.h"
#include "training/detail/pretrain_options.h"
#include "training/torch_functions.h"

namespace protocom {

PretrainResult pretrain(const PackedImages& images, const PretrainRecipe& options, const TrainingFiles& files,
                        Progress& progress) {
  check_pretrain(options);
  if (files.out.empty()) fail_usage("pre-training needs a file to write the backbone to");
  const PretrainRecipe settings = resolved(options, images);
  check_growth(settings);
  return torch_pretrain(images, settings, files, progress);
}

}  // namespace protocom
