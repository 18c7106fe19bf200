#include "fewshot/toolbox/detail/complete_basis.h"

#include <Eigen/QR>

namespace protocom {

DoubleMatrix complete_basis(const DoubleMatrix& columns) {
  const int64_t d = columns.rows(), r = columns.cols();
  if (r == 0) return DoubleMatrix::Identity(d, d);
  const Eigen::HouseholderQR<Eigen::MatrixXd> reflections(columns);
  DoubleMatrix basis = reflections.householderQ() * Eigen::MatrixXd::Identity(d, d);
  for (int64_t i = 0; i < r; ++i) {
    if (reflections.matrixQR()(i, i) < 0) basis.col(i) *= -1;  // the reflections give columns up to sign
  }
  return basis;
}

}  // namespace protocom
