#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// Returns the cosine similarity of queries [..., q, d] with prototypes [..., n, d]: float32 [..., q, n] in [-1, 1]; 0
/// for a zero vector.
at::Tensor cosine_similarity(const at::Tensor& queries, const at::Tensor& prototypes);

/// Returns the class probabilities softmax(scale * cosine) of equations 8 and 12: float32 [..., q, n], rows sum to 1.
at::Tensor cosine_probabilities(const at::Tensor& queries, const at::Tensor& prototypes, double scale);

}  // namespace protocom
