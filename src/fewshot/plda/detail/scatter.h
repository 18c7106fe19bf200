#pragma once
#include "base/matrix.h"

namespace protocom {

/// R = sum of r r' over rows r, by its eigenvectors.
struct Scatter {
  DoubleMatrix directions;   ///< U, [e, r], orthonormal
  DoubleVector eigenvalues;  ///< of R, [r], above 0
  double degrees = 0;        ///< how many independent rows the rows count as
};

/// Of rows [m, e]. Needs their m x m or e x e products, whichever are fewer.
Scatter scatter_of(const DoubleMatrix& rows, double degrees);

/// The same of the sum R [e, e] itself.
Scatter scatter_of_sum(DoubleMatrix sum, double degrees);

/// The linear map that gives the within-class covariance S the unit of length: with a scatter R in units of `unit`,
///     S = unit (nu I + R) / (nu + degrees),
/// the posterior mean of an inverse Wishart prior with mean `unit` I and nu degrees.
///     W = S^-1/2 = across I + U diag(along - across) U'.
struct LowRankWhitening {
  DoubleMatrix directions;  ///< U, [e, r]
  DoubleVector along;       ///< [r], W along U
  double across = 1;        ///< W elsewhere

  /// x W of rows [m, e].
  [[nodiscard]] DoubleMatrix apply(const DoubleMatrix& x) const;
  /// diag(W diag(variance) W), [e]: what is left of a diagonal covariance. What is off the diagonal is dropped: keeping
  /// it gains nothing on held-out classes and takes O(e^2) per episode.
  [[nodiscard]] DoubleVector variance(const DoubleVector& variance) const;
};

/// `nu` above 0.
LowRankWhitening whitening_of(const Scatter& scatter, double nu, double unit = 1);

}  // namespace protocom
