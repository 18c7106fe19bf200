#include "base/symmetric_eigen.h"

#include <algorithm>
#include <complex>
#include <utility>
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

#include "base/error.h"

namespace protocom {

EigenRows eigen_rows(DoubleMatrix symmetric) {
  if (!symmetric.allFinite()) fail("cannot decompose a matrix that is not finite: check that all features are finite");
  const auto n = static_cast<lapack_int>(symmetric.rows());
  EigenRows found{DoubleVector(n), std::move(symmetric)};
  // LAPACK is column-major: its eigenvectors, one per column, are our rows.
  const lapack_int failed = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', n, found.vectors.data(),
                                           std::max<lapack_int>(n, 1), found.values.data());
  if (failed != 0)
    fail("the eigendecomposition of a matrix of {} rows did not converge: check that all features are finite", n);
  return found;
}

DoubleMatrix leading_axes(const DoubleMatrix& x, int64_t count) {
  // Uses the smaller of x x' and x' x: x' times an eigenvector of the first is a direction, up to its length.
  const bool few = x.rows() < x.cols();
  DoubleMatrix square = few ? DoubleMatrix(x * x.transpose()) : DoubleMatrix(x.transpose() * x);
  const EigenRows found = eigen_rows(std::move(square));
  const DoubleMatrix top = found.vectors.bottomRows(count);
  return few ? unit_rows(top * x) : top;
}

}  // namespace protocom
