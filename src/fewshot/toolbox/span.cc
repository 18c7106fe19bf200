#include "fewshot/toolbox/detail/span.h"

#include <ATen/ATen.h>

#include "fewshot/toolbox/detail/row_products.h"

namespace protocom {

Span::Span(const at::Tensor& points) : points_(points) {
  // Products of all pairs would be more numbers, and slower, than the way through the dimensions.
  if (points.size(1) > 2 * points.size(2)) {
    squared_points_ = points.square().sum(-1, true);
    return;
  }
  const bool plain = are_plain_rows(points);
  gram_ = plain ? row_gram(points).slice(2, 0, points.size(1)) : at::matmul(points, points.transpose(1, 2));
  if (plain) layers_ = DenseLayers(gram_);
  squared_points_ = gram_.diagonal(0, 1, 2).unsqueeze(-1);
}

at::Tensor Span::products(const at::Tensor& coefficients) const {
  if (!layers_.empty()) return layers_.apply(coefficients).transpose(1, 2);
  if (gram_.defined()) return at::matmul(coefficients, gram_).transpose(1, 2);
  return at::matmul(at::matmul(coefficients, points_), points_.transpose(1, 2)).transpose(1, 2);
}

at::Tensor Span::squared_lengths(const at::Tensor& coefficients, const at::Tensor& products) {
  return (coefficients.transpose(1, 2) * products).sum(1, true);
}

at::Tensor Span::squared_distances(const at::Tensor& coefficients) const {
  const at::Tensor inner = products(coefficients);
  return (squared_points_ + squared_lengths(coefficients, inner)).sub_(inner, 2).clamp_min_(0);
}

at::Tensor weighted_means(const at::Tensor& weights) { return (weights / weights.sum(1, true)).transpose(1, 2); }

at::Tensor class_softmax(const at::Tensor& logits) { return logits.transpose(1, 2).softmax(1).transpose(1, 2); }

at::Tensor class_log_softmax(const at::Tensor& logits) { return logits.transpose(1, 2).log_softmax(1).transpose(1, 2); }

}  // namespace protocom
