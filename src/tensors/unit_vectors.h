#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// Returns vectors [..., d] divided by their Euclidean length, or by 1e-12 if they are shorter, so that zero stays
/// zero.
at::Tensor unit_vectors(const at::Tensor& vectors);

}  // namespace protocom
