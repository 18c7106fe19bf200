#include "fewshot/span.h"

#include <ATen/ATen.h>

namespace protocom {

Span::Span(const at::Tensor& points) : points_(points) {
  if (points.size(1) < points.size(2)) {
    gram_ = at::matmul(points, points.transpose(1, 2));
    squared_points_ = gram_.diagonal(0, 1, 2).unsqueeze(-1);
  } else {
    squared_points_ = points.square().sum(-1, true);
  }
}

at::Tensor Span::products(const at::Tensor& coefficients) const {
  if (gram_.defined()) return at::matmul(gram_, coefficients.transpose(1, 2));
  return at::matmul(points_, at::matmul(coefficients, points_).transpose(1, 2));
}

at::Tensor Span::squared_lengths(const at::Tensor& coefficients, const at::Tensor& products) {
  return (coefficients.transpose(1, 2) * products).sum(1, true);
}

at::Tensor Span::squared_distances(const at::Tensor& coefficients) const {
  const at::Tensor inner = products(coefficients);
  return (squared_points_ + squared_lengths(coefficients, inner) - 2 * inner).clamp_min(0);
}

at::Tensor weighted_means(const at::Tensor& weights) { return (weights / weights.sum(1, true)).transpose(1, 2); }

}  // namespace protocom
