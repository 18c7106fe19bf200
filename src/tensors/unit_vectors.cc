#include "tensors/unit_vectors.h"

#include <ATen/ATen.h>

namespace protocom {

at::Tensor unit_vectors(const at::Tensor& vectors) {
  constexpr double kTiny = 1e-12;
  return vectors / vectors.norm(2, -1, true).clamp_min(kTiny);
}

}  // namespace protocom
