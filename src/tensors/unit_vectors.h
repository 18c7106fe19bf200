#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// Vectors [..., d] divided by their Euclidean length; one shorter than 1e-12 by that, so that zero stays zero.
at::Tensor unit_vectors(const at::Tensor& vectors);

}  // namespace protocom
