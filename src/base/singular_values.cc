#include "base/singular_values.h"

#include <algorithm>
#include <complex>
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

#include "base/error.h"

namespace protocom {

SingularValues singular_values(DoubleMatrix matrix) {
  if (!matrix.allFinite()) fail("cannot decompose a matrix that is not finite: check that all features are finite");
  const auto m = static_cast<lapack_int>(matrix.rows()), n = static_cast<lapack_int>(matrix.cols());
  const lapack_int r = std::min(m, n);
  SingularValues found{DoubleVector(r), DoubleMatrix(r, m), DoubleMatrix(r, n)};
  if (r == 0) return found;
  // LAPACK is column-major, so it sees our matrix as A': A' = V diag(values) U'. Its left vectors are V, whose columns
  // are the rows of V' in our layout; its right ones are U', which we see transposed.
  DoubleMatrix left(m, r);
  const lapack_int failed = LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', n, m, matrix.data(), n, found.values.data(),
                                           found.right_rows.data(), n, left.data(), r);
  if (failed != 0) fail("the singular value decomposition of a {} x {} matrix did not converge", m, n);
  found.left_rows = left.transpose();
  return found;
}

}  // namespace protocom
