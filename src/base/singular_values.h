#pragma once
#include "base/matrix.h"

namespace protocom {

/// A = U diag(values) V', thin: r = min(m, n).
struct SingularValues {
  DoubleVector values;      ///< [r], descending
  DoubleMatrix left_rows;   ///< U' [r, m], one left singular vector per row
  DoubleMatrix right_rows;  ///< V' [r, n], one right singular vector per row
};

/// Computes singular values and vectors of a matrix [m, n], by LAPACK's divide and conquer. Signs of the vectors are
/// LAPACK's. Throws Error for numbers that are not finite.
SingularValues singular_values(DoubleMatrix matrix);

}  // namespace protocom
