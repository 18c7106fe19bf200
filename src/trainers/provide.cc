#include "trainers/provide.h"

#include "trainers/detail/trainings.h"
#include "training/torch_functions.h"

namespace protocom {

void provide_trainers() {
  torch_pretrain.provide(&run_pretrain);
  torch_train_completion.provide(&run_completion);
  torch_metatrain.provide(&run_metatrain);
}

}  // namespace protocom
