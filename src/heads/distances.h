#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// Returns the squared Euclidean distances of queries [..., q, d] to points [..., n, d]: [..., q, n], at least 0.
at::Tensor squared_distances(const at::Tensor& queries, const at::Tensor& points);

}  // namespace protocom
