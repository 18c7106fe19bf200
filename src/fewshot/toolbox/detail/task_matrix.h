#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "base/matrix.h"
#include "fewshot/floats.h"
#include "fewshot/row_length.h"
#include "fewshot/task.h"

namespace protocom {

/// Returns `count` rows of a task from `first` on, [count, width].
template <typename Number = double>
auto matrix_of(const Task& task, int64_t first, int64_t count) {
  Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows(count, task.width);
  for (int64_t i = 0; i < count; ++i) {
    const float* row = task.rows[static_cast<size_t>(first + i)];
    rows.row(i) = Eigen::Map<const Eigen::RowVectorXf>(row, task.width).template cast<Number>();
  }
  return rows;
}

/// Rows of a matrix in the form that the loops of row_kernels.h take. One per thread.
class MatrixRows {
 public:
  /// Returns [m] pointers to [dim()] each; valid until the next call.
  const std::vector<const float*>& place(const DoubleMatrix& rows) {
    dim_ = padded_length(rows.cols());
    values_.assign(static_cast<size_t>(rows.rows() * dim_), 0.0F);
    Eigen::Map<FloatMatrix>(values_.data(), rows.rows(), dim_).leftCols(rows.cols()) = rows.cast<float>();
    pointers_.clear();
    for (int64_t i = 0; i < rows.rows(); ++i) pointers_.push_back(values_.data() + i * dim_);
    return pointers_;
  }
  [[nodiscard]] int64_t dim() const { return dim_; }

 private:
  int64_t dim_ = 0;
  Floats values_;  // [m, dim]
  std::vector<const float*> pointers_;
};

/// Returns the softmax of each row.
inline DoubleMatrix softmax(DoubleMatrix logits) {
  const DoubleVector most = logits.rowwise().maxCoeff();
  logits = (logits.array().colwise() - most.array()).exp();
  const DoubleVector totals = logits.rowwise().sum();
  logits.array().colwise() /= totals.array();
  return logits;
}

/// Returns the softmax of each column.
inline FloatMatrix softmax_of_columns(FloatMatrix logits) {
  const Eigen::RowVectorXf most = logits.colwise().maxCoeff();
  logits = (logits.array().rowwise() - most.array()).exp();
  const Eigen::RowVectorXf totals = logits.colwise().sum();
  logits.array().rowwise() /= totals.array();
  return logits;
}

/// Returns the columns of the `count` largest values of a row, the first of equal ones; count is at most the number of
/// columns.
inline std::vector<int64_t> places_of_largest(const DoubleMatrix& values, int64_t row, int64_t count) {
  std::vector<int64_t> places(static_cast<size_t>(values.cols()));
  std::iota(places.begin(), places.end(), 0);
  std::partial_sort(places.begin(), places.begin() + count, places.end(), [&](int64_t a, int64_t b) {
    return values(row, a) > values(row, b) || (values(row, a) == values(row, b) && a < b);
  });
  places.resize(static_cast<size_t>(count));
  return places;
}

/// Returns 1 at the class of each support, else 0: [s, n].
inline DoubleMatrix labels_of_supports(const Task& task) {
  DoubleMatrix labels = DoubleMatrix::Zero(task.supports(), task.n);
  for (int64_t i = 0; i < task.supports(); ++i) labels(i, task.label[static_cast<size_t>(i)]) = 1;
  return labels;
}

/// Returns p - y of probabilities and labels [n, m], whose columns are points. Exact also where p is nearly y: at a
/// point's own class it is minus the sum of the others, which 1 - p would round away. Zeros where a point has no label.
inline FloatMatrix residuals(const FloatMatrix& labels, const FloatMatrix& p) {
  const FloatMatrix apart = p.array() * (1 - labels.array());
  const Eigen::RowVectorXf others = apart.colwise().sum(), present = labels.colwise().sum();
  return apart.array().rowwise() * present.array() - labels.array().rowwise() * others.array();
}

/// Returns the logits [q, n] of a task as a matrix.
inline auto matrix_at(float* logits, const Task& task) { return Eigen::Map<FloatMatrix>(logits, task.queries, task.n); }

}  // namespace protocom
