#include "fewshot/span.h"

#include <ATen/ATen.h>

#include "fewshot/row_products.h"

namespace protocom {

Span::Span(const at::Tensor& points) : points_(points) {
  if (points.size(1) >= points.size(2)) {
    squared_points_ = points.square().sum(-1, true);
    return;
  }
  if (are_plain_rows(points)) {
    gram_ = row_gram(points).slice(2, 0, points.size(1));
    for (int64_t i = 0; i < gram_.size(0); ++i) layers_.emplace_back(gram_[i]);
  } else {
    gram_ = at::matmul(points, points.transpose(1, 2));
  }
  squared_points_ = gram_.diagonal(0, 1, 2).unsqueeze(-1);
}

at::Tensor Span::products(const at::Tensor& coefficients) const {
  if (!gram_.defined()) return at::matmul(at::matmul(coefficients, points_), points_.transpose(1, 2)).transpose(1, 2);
  if (layers_.empty()) return at::matmul(coefficients, gram_).transpose(1, 2);
  const at::Tensor in = coefficients.contiguous();
  const int64_t n = in.size(1);
  const int64_t m = in.size(2);
  at::Tensor out = at::empty({in.size(0), n, layers_.front().width()});
  for (int64_t i = 0; i < in.size(0); ++i) {
    layers_[static_cast<size_t>(i)].apply(in.data_ptr<float>() + i * n * m, m, n,
                                          out.data_ptr<float>() + i * out.stride(0));
  }
  return out.slice(2, 0, m).transpose(1, 2);
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
