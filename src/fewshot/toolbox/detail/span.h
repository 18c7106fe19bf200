#pragma once
#include <ATen/core/Tensor.h>

#include "fewshot/toolbox/detail/dense_layer.h"

namespace protocom {

/// Points [b, m, d] and vectors that are linear combinations of them, given by coefficients [b, n, m]. Products and
/// distances then need inner products only: with m up to 2 d they come from the points' Gram matrix.
/// What has a row a point and a column a class, [b, m, n], lies class by class in memory: operators then run along
/// points, of which there are many.
class Span {
 public:
  explicit Span(const at::Tensor& points);

  /// Inner products of every point with every combination, [b, m, n].
  [[nodiscard]] at::Tensor products(const at::Tensor& coefficients) const;
  /// Squared Euclidean distances of every point and every combination, [b, m, n], at least 0.
  [[nodiscard]] at::Tensor squared_distances(const at::Tensor& coefficients) const;
  /// Squared lengths of the combinations, [b, 1, n], from their products().
  [[nodiscard]] static at::Tensor squared_lengths(const at::Tensor& coefficients, const at::Tensor& products);

 private:
  at::Tensor points_;
  at::Tensor gram_;            // [b, m, m]; undefined where the points themselves are less work
  DenseLayers layers_;         // of plain rows: the Gram matrices
  at::Tensor squared_points_;  // [b, m, 1]
};

/// Coefficients [b, n, m] of the means of points by weights [b, m, n].
at::Tensor weighted_means(const at::Tensor& weights);

/// Softmax over the classes of logits [b, m, n] that lie class by class, and its logarithm.
at::Tensor class_softmax(const at::Tensor& logits);
at::Tensor class_log_softmax(const at::Tensor& logits);

}  // namespace protocom
