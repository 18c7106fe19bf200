#pragma once
#include <algorithm>
#include <cmath>

#include "base/array.h"
#include "base/eigen.h"

namespace protocom {

/// Row-major matrices, the layout of features.
template <typename T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using DoubleMatrix = RowMatrix<double>;
using FloatMatrix = RowMatrix<float>;
using DoubleVector = Eigen::VectorXd;

// clang-format off
template <> struct NumberTypeOf<Eigen::half> { static constexpr NumberType kType = NumberType::kFloat16; };
template <> struct NumberTypeOf<Eigen::bfloat16> { static constexpr NumberType kType = NumberType::kBFloat16; };
// clang-format on

/// Returns an array [n, d] of numbers of type T as a matrix on the same memory; [d] as one row.
template <typename T>
Eigen::Map<const RowMatrix<T>> matrix_of(const Array& array) {
  PROTOCOM_CHECK(array.dim() == 1 || array.dim() == 2);
  return {array.data<T>(), array.dim() == 1 ? 1 : array.size(0), array.size(array.dim() - 1)};
}

/// Returns it for writing.
template <typename T>
Eigen::Map<RowMatrix<T>> mutable_matrix_of(Array& array) {
  PROTOCOM_CHECK(array.dim() == 1 || array.dim() == 2);
  return {array.mutable_data<T>(), array.dim() == 1 ? 1 : array.size(0), array.size(array.dim() - 1)};
}

/// Divides each row by its Euclidean length, or by 1e-12 if it is shorter, so that zero stays zero.
template <typename Rows>
void scale_to_unit_rows(Eigen::MatrixBase<Rows>& rows) {
  using T = typename Rows::Scalar;
  for (int64_t i = 0; i < rows.rows(); ++i) rows.row(i) /= std::max(rows.row(i).norm(), static_cast<T>(1e-12));
}

/// Returns a copy of rows [n, d] at unit length.
template <typename Rows>
RowMatrix<typename Rows::Scalar> unit_rows(const Eigen::MatrixBase<Rows>& rows) {
  RowMatrix<typename Rows::Scalar> made = rows;
  scale_to_unit_rows(made);
  return made;
}

/// Returns log sum_k exp(factor * x_k) for each row of [n, c], in double precision.
template <typename Rows>
DoubleVector log_sum_exp(const Eigen::MatrixBase<Rows>& rows, double factor = 1) {
  DoubleVector sums(rows.rows());
  for (int64_t i = 0; i < rows.rows(); ++i) {
    const Eigen::RowVectorXd row = factor * rows.row(i).template cast<double>();
    const double most = row.maxCoeff();
    sums[i] = most + std::log((row.array() - most).exp().sum());
  }
  return sums;
}

/// Returns a copy of a matrix as an array [n, d] of its type.
template <typename Matrix>
Array array_of_matrix(const Eigen::MatrixBase<Matrix>& matrix) {
  using T = typename Matrix::Scalar;
  Array array = Array::uninitialised({matrix.rows(), matrix.cols()}, NumberTypeOf<T>::kType);
  mutable_matrix_of<T>(array) = matrix;
  return array;
}

}  // namespace protocom
