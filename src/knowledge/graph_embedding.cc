#include "knowledge/graph_embedding.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/singular_values.h"

namespace protocom {
namespace {

/// Singular values below this share of the first are rounding errors with arbitrary directions.
constexpr double kRankTolerance = 1e-9;

/// Fixes the signs of directions, which a decomposition leaves open: the largest entry of each column becomes positive,
/// among entries that differ only by rounding the first.
void fix_signs(Eigen::MatrixXd& directions) {
  constexpr double kAlike = 1 - 1e-6;
  for (Eigen::Index k = 0; k < directions.cols(); ++k) {
    const double largest = directions.col(k).cwiseAbs().maxCoeff();
    Eigen::Index first = 0;
    while (std::abs(directions(first, k)) < kAlike * largest) ++first;
    if (directions(first, k) < 0) directions.col(k) *= -1;
  }
}

}  // namespace

Array embed_graph(const Array& association, int64_t dim) {
  if (dim < 1) fail_usage("dimensions of the embedding: expected at least 1, found {}", dim);
  const auto weights = matrix_of<float>(association);
  if ((weights.array() == 0).all()) return Array::zeros({weights.cols(), 1});
  const SingularValues parts = singular_values(weights.cast<double>());
  const DoubleVector& values = parts.values;
  const int64_t rank = (values.array() > values[0] * kRankTolerance).count();
  const int64_t kept = std::min(dim, rank);
  Eigen::MatrixXd directions = parts.right_rows.topRows(kept).transpose();
  fix_signs(directions);
  return array_of_matrix((directions * values.head(kept).cwiseSqrt().asDiagonal()).cast<float>());
}

Array place_rows(const Array& columns, const Array& rows) {
  const DoubleMatrix precise = matrix_of<float>(columns).cast<double>();
  const Eigen::RowVectorXd squares = precise.colwise().squaredNorm();  // [e], the singular values
  const Eigen::RowVectorXd inverse = (squares.array() > 0).select(squares.cwiseInverse(), 0);
  const DoubleMatrix placed = matrix_of<float>(rows).cast<double>() * precise;
  return array_of_matrix((placed * inverse.asDiagonal()).cast<float>());  // [n, e]
}

}  // namespace protocom
