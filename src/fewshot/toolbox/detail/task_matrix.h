#pragma once
#include "fewshot/detail/matrix.h"
#include "fewshot/detail/task.h"

namespace protocom {

/// `count` rows of a task from `first` on, [count, width].
inline DoubleMatrix matrix_of(const Task& task, int64_t first, int64_t count) {
  DoubleMatrix rows(count, task.width);
  for (int64_t i = 0; i < count; ++i) {
    const float* row = task.rows[static_cast<size_t>(first + i)];
    rows.row(i) = Eigen::Map<const Eigen::RowVectorXf>(row, task.width).cast<double>();
  }
  return rows;
}

/// Logits [q, n] of a task as a matrix.
inline auto matrix_at(float* logits, const Task& task) { return Eigen::Map<FloatMatrix>(logits, task.queries, task.n); }

}  // namespace protocom
