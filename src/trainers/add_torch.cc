#include "trainers/add_torch.h"

#include "base/plugin.h"
#include "distributed/provide.h"
#include "heads/trained_methods.h"
#include "networks/provide.h"
#include "trainers/provide.h"

namespace protocom {

void add_torch() {
  provide_distributed();
  provide_networks();
  provide_trainers();
  provide_trained_methods();
  torch_plugin_provides();
}

}  // namespace protocom
