#include "fewshot/plda/detail/scatter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/symmetric_eigen.h"

namespace protocom {
namespace {

/// Relative to the largest eigenvalue: smaller ones are rounding errors.
constexpr double kRankTolerance = 1e-10;

}  // namespace

Scatter scatter_of(const DoubleMatrix& rows, double degrees) {
  if (rows.rows() == 0) return {DoubleMatrix(rows.cols(), 0), {}, degrees};
  if (rows.rows() > rows.cols()) return scatter_of_sum(rows.transpose() * rows, degrees);
  Scatter scatter = scatter_of_sum(rows * rows.transpose(), degrees);
  scatter.directions =
      rows.transpose() * (scatter.directions * scatter.eigenvalues.cwiseSqrt().cwiseInverse().asDiagonal()).eval();
  return scatter;
}

Scatter scatter_of_sum(DoubleMatrix sum, double degrees) {
  const int64_t size = sum.rows();
  if (size == 0) return {DoubleMatrix(0, 0), {}, degrees};
  const EigenRows all = eigen_rows(std::move(sum));
  const double least = std::max(all.values[size - 1] * kRankTolerance, 0.0);
  const int64_t rank = (all.values.array() > least).count();
  return {all.vectors.bottomRows(rank).transpose(), all.values.tail(rank), degrees};
}

DoubleMatrix LowRankWhitening::apply(const DoubleMatrix& x) const {
  const DoubleMatrix places = (x * directions) * (along.array() - across).matrix().asDiagonal();
  DoubleMatrix whitened = across * x;
  whitened.noalias() += places * directions.transpose();
  return whitened;
}

DoubleVector LowRankWhitening::variance(const DoubleVector& variance) const {
  const DoubleMatrix scaled = directions * (along.array() - across).matrix().asDiagonal();          // [e, r]
  const DoubleMatrix inner = directions.transpose() * (variance.asDiagonal() * directions).eval();  // [r, r]
  const DoubleVector once = directions.cwiseProduct(scaled).rowwise().sum();
  const DoubleVector twice = (scaled * inner).cwiseProduct(scaled).rowwise().sum();
  return across * across * variance + 2 * across * variance.cwiseProduct(once) + twice;
}

LowRankWhitening whitening_of(const Scatter& scatter, double nu, double unit) {
  const double total = nu + scatter.degrees, root = 1 / std::sqrt(unit);
  return {scatter.directions, root * (total / (nu + scatter.eigenvalues.array())).sqrt(), root * std::sqrt(total / nu)};
}

}  // namespace protocom
