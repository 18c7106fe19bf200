#pragma once
#include "base/matrix.h"

namespace protocom {

/// The scatter R = sum of r r' over rows r, as eigenvectors and eigenvalues.
struct Scatter {
  DoubleMatrix directions;   ///< U, [e, r], orthonormal
  DoubleVector eigenvalues;  ///< of R, [r], above 0
  double degrees = 0;        ///< number of independent rows that the rows count as
};

/// Computes the scatter of rows [m, e], from their m x m or e x e products, whichever are fewer.
Scatter scatter_of(const DoubleMatrix& rows, double degrees);

/// Computes the scatter from the sum R [e, e] itself.
Scatter scatter_of_sum(DoubleMatrix sum, double degrees);

/// The linear map that makes the within-class covariance S the identity: with a scatter R in units of `unit`,
///     S = unit (nu I + R) / (nu + degrees),
/// the posterior mean of an inverse Wishart prior with mean `unit` I and nu degrees.
///     W = S^-1/2 = across I + U diag(along - across) U'.
struct LowRankWhitening {
  DoubleMatrix directions;  ///< U, [e, r]
  DoubleVector along;       ///< [r], W along U
  double across = 1;        ///< W elsewhere

  /// Returns x W for rows [m, e].
  [[nodiscard]] DoubleMatrix apply(const DoubleMatrix& x) const;
  /// Returns diag(W diag(variance) W), [e]: the diagonal of a transformed diagonal covariance. Off-diagonal elements
  /// are dropped: keeping them gains nothing on held-out classes and takes O(e^2) per episode.
  [[nodiscard]] DoubleVector variance(const DoubleVector& variance) const;
};

/// Makes the whitening; `nu` above 0.
LowRankWhitening whitening_of(const Scatter& scatter, double nu, double unit = 1);

}  // namespace protocom
