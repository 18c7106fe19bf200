#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// Cosine similarity of queries [..., q, d] with prototypes [..., n, d]: float32 [..., q, n] in [-1, 1]. A zero vector
/// is similar to nothing (0).
at::Tensor cosine_similarity(const at::Tensor& queries, const at::Tensor& prototypes);

/// Class probabilities softmax(scale * cosine) of equations 8 and 12: float32 [..., q, n], rows sum to 1.
at::Tensor cosine_probabilities(const at::Tensor& queries, const at::Tensor& prototypes, double scale);

}  // namespace protocom
