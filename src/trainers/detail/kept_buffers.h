#pragma once
#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

#include "networks/backbone.h"

namespace protocom {

/// Restores at its end what forward passes change of a backbone besides gradients (batch norm's running statistics)
/// during its lifetime. Backward passes of what was computed meanwhile stay possible.
class KeptBuffers {
 public:
  explicit KeptBuffers(const Backbone& backbone);
  ~KeptBuffers();
  KeptBuffers(const KeptBuffers&) = delete;
  KeptBuffers& operator=(const KeptBuffers&) = delete;

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> kept_;  // buffer and its saved value
};

}  // namespace protocom
