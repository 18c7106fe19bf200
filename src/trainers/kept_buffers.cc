#include "trainers/detail/kept_buffers.h"

#include <torch/torch.h>

namespace protocom {

KeptBuffers::KeptBuffers(const Backbone& backbone) {
  for (const auto& [name, tensor] : backbone.state_dict()) {
    if (tensor.requires_grad()) continue;
    const at::Tensor place = tensor.variable_data();  // autograd does not record writes to it
    kept_.emplace_back(place, place.clone());
  }
}

KeptBuffers::~KeptBuffers() {
  for (const auto& [place, value] : kept_) place.copy_(value);
}

}  // namespace protocom
