#include "fewshot/toolbox/detail/complete_basis.h"

#include <ATen/ATen.h>

#include <Eigen/QR>
#include <tuple>

namespace protocom {

at::Tensor complete_basis(const at::Tensor& columns) {
  const int64_t d = columns.size(0), r = columns.size(1);
  if (r == 0) return at::eye(d, columns.options());
  const auto [reflectors, tau] = at::geqrf(columns);
  // A reflection that moves nothing has tau = 0: without its vector it takes no part.
  const at::Tensor moves = tau.ne(0);
  const at::Tensor v = (reflectors.tril(-1) + at::eye(d, r, columns.options())) * moves.to(columns.scalar_type());
  // T^-1 = striu(V'V) + diag(1 / tau)
  const at::Tensor inverse = at::mm(v.t(), v).triu(1) + at::diag(at::where(moves, 1 / tau, at::ones_like(tau)));
  const at::Tensor factor = at::linalg_solve_triangular(inverse, v.t().contiguous(), /*upper=*/true);
  return at::eye(d, columns.options()).addmm_(v, factor, 1, -1);
}

DoubleMatrix complete_basis(const DoubleMatrix& columns) {
  const int64_t d = columns.rows(), r = columns.cols();
  if (r == 0) return DoubleMatrix::Identity(d, d);
  const Eigen::HouseholderQR<Eigen::MatrixXd> reflections(columns);
  DoubleMatrix basis = reflections.householderQ() * Eigen::MatrixXd::Identity(d, d);
  basis.leftCols(r) = columns;  // reflections give them up to signs
  return basis;
}

}  // namespace protocom
