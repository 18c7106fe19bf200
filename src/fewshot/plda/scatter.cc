#include "fewshot/plda/detail/scatter.h"

#include <algorithm>
#include <cmath>

#include "base/symmetric_eigen.h"

namespace protocom {
namespace {

/// Of the largest eigenvalue: smaller ones are rounding.
constexpr double kRankTolerance = 1e-10;

}  // namespace

Scatter scatter_of(const DoubleMatrix& rows, double degrees) {
  const bool by_rows = rows.rows() <= rows.cols();
  const EigenRows all =
      eigen_rows(by_rows ? DoubleMatrix(rows * rows.transpose()) : DoubleMatrix(rows.transpose() * rows));
  const int64_t size = all.values.size();
  if (size == 0) return {DoubleMatrix(rows.cols(), 0), {}, degrees};
  const double least = std::max(all.values[size - 1] * kRankTolerance, 0.0);
  const int64_t rank = (all.values.array() > least).count();
  Scatter scatter{all.vectors.bottomRows(rank).transpose(), all.values.tail(rank), degrees};
  if (by_rows)
    scatter.directions =
        rows.transpose() * (scatter.directions * scatter.eigenvalues.cwiseSqrt().cwiseInverse().asDiagonal()).eval();
  return scatter;
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
