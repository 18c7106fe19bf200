#pragma once
#include <cstdint>
#include <vector>

#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom {

/// Products of all points of a task with linear combinations of them: by their Gram matrix, or, with more than twice as
/// many points as dimensions, through the dimensions. Arrays with a number for each class and point are stored class by
/// class, [n, stride()]. One per thread.
class RowSpan {
 public:
  /// `rows` [m], of `dim` floats each; they must stay in place.
  void place(const std::vector<const float*>& rows, int64_t dim);

  /// Returns the number of points rounded up.
  [[nodiscard]] int64_t stride() const { return stride_; }
  /// Returns the products of a point with all points, [stride()], zeros after m. Valid until the next call.
  [[nodiscard]] const float* inner(int64_t point);

  /// Writes the products of every point and combinations of coefficients [n, stride()] to `out` [n, stride()].
  void compute_products(const float* coefficients, int64_t n, float* out);

  /// Writes the squared distances of every point to combinations of coefficients [n, stride()], at least 0, to `out`
  /// [n, stride()].
  void compute_distances(const float* coefficients, int64_t n, float* out);

 private:
  void compute_gram();

  std::vector<const float*> rows_;  // [m]
  int64_t points_ = 0;
  int64_t dim_ = 0;
  int64_t stride_ = 0;
  bool has_gram_ = true;
  Floats gram_;     // [m, stride]
  Floats panels_;   // the Gram matrix as dense_rows takes it
  Floats vectors_;  // [n, dim], combinations
  Floats inner_;    // [stride]
  Floats zeros_;    // [stride]
  Floats squares_;  // [stride]
};

}  // namespace protocom
