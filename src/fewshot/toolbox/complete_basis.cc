#include "fewshot/toolbox/detail/complete_basis.h"

#include <Eigen/QR>
#include <complex>
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

#include "base/error.h"

namespace protocom {

DoubleMatrix complete_basis(const DoubleMatrix& columns) {
  const int64_t d = columns.rows(), r = columns.cols();
  DoubleMatrix basis = DoubleMatrix::Identity(d, d);
  if (r == 0) return basis;
  const Eigen::HouseholderQR<Eigen::MatrixXd> reflections(columns);
  // LAPACK applies 32 reflections at once, Eigen one after the other if there are fewer than 48. LAPACK is
  // column-major: our basis Q is its Q'.
  const auto n = static_cast<lapack_int>(d);
  const lapack_int failed =
      LAPACKE_dormqr(LAPACK_COL_MAJOR, 'R', 'T', n, n, static_cast<lapack_int>(r), reflections.matrixQR().data(), n,
                     reflections.hCoeffs().data(), basis.data(), n);
  if (failed != 0) fail("no basis of {} dimensions can be made of {} columns", d, r);
  for (int64_t i = 0; i < r; ++i) {
    if (reflections.matrixQR()(i, i) < 0) basis.col(i) *= -1;  // the reflections give columns up to sign
  }
  return basis;
}

}  // namespace protocom
