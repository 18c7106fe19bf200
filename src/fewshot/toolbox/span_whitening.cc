#include "fewshot/toolbox/detail/span_whitening.h"

#include <cmath>

#include "base/symmetric_eigen.h"

namespace protocom {
namespace {

/// Returns coefficients [u, u] of rows x [u, d] whose combinations are orthonormal and span them; zero rows for missing
/// dimensions.
DoubleMatrix orthonormal_combinations(const DoubleMatrix& x) {
  constexpr double kLeastShare = 1e-7;  // of the largest squared singular value
  const EigenRows found = eigen_rows(x * x.transpose());
  const double least = kLeastShare * found.values.maxCoeff();
  const DoubleVector scales =
      found.values.unaryExpr([least](double square) { return square > least ? 1 / std::sqrt(square) : 0.0; });
  return scales.asDiagonal() * found.vectors;
}

}  // namespace

DoubleMatrix whitened_in_span(const DoubleMatrix& points, const DoubleMatrix& white, int64_t u, double most) {
  if (u == 0) return DoubleMatrix::Zero(points.rows(), 1);
  const DoubleMatrix base = orthonormal_combinations(points.topRows(u));
  const DoubleMatrix base_white = base * white.topRows(u);
  const EigenRows axes = eigen_rows(base_white * base_white.transpose());
  const DoubleVector factors = axes.values.array().max(0).sqrt().min(most);
  const DoubleMatrix turned = factors.asDiagonal() * (axes.vectors * base);  // coefficients of the u points
  const DoubleMatrix inner = points * points.topRows(u).transpose();         // [m, u]
  return inner * turned.transpose();
}

}  // namespace protocom
