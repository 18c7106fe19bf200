#pragma once
#include <cstdint>
#include <vector>

#include "fewshot/toolbox/detail/row_episode.h"

namespace protocom {

/// Span of one episode after the other whose rows are read where they lie: products of all points with linear
/// combinations of them, by their Gram matrix. Numbers of classes and points lie class by class, [n, stride()]. One a
/// thread.
class RowSpan {
 public:
  /// `rows` [m], of `dim` floats each.
  void place(const std::vector<const float*>& rows, int64_t dim);

  /// Points rounded up.
  [[nodiscard]] int64_t stride() const { return stride_; }
  [[nodiscard]] float square(int64_t i) const { return gram_[static_cast<size_t>(i * stride_ + i)]; }
  /// The Gram matrix [m, stride()], zeros after m.
  [[nodiscard]] const float* gram() const { return gram_.data(); }

  /// Products of every point and combinations of coefficients [n, stride()], to `out` [n, stride()].
  void place_products(const float* coefficients, int64_t n, float* out) const;

  /// Squared distances of every point and combinations of coefficients [n, stride()], at least 0, to `out`
  /// [n, stride()].
  void place_distances(const float* coefficients, int64_t n, float* out) const;

 private:
  int64_t points_ = 0;
  int64_t stride_ = 0;
  Floats gram_;     // [m, stride]
  Floats panels_;   // the same as dense_rows takes it
  Floats zeros_;    // [stride]
  Floats squares_;  // [stride]
};

}  // namespace protocom
