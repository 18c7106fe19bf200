#include "heads/detail/diagonal_gaussian.h"

#include <ATen/ATen.h>

namespace protocom {

at::Tensor diagonal_log_density(const at::Tensor& x, const at::Tensor& m, const at::Tensor& v) {
  const at::Tensor precision = 1 / v;
  const at::Tensor squares = at::matmul(x.square(), precision.transpose(-1, -2)) -
                             2 * at::matmul(x, (m * precision).transpose(-1, -2)) +
                             ((m.square() * precision).sum(-1) + v.log().sum(-1)).unsqueeze(-2);
  return -0.5 * squares;
}

at::Tensor divergence(const DiagonalGaussian& q, const DiagonalGaussian& p) {
  const at::Tensor gap = q.log_variance - p.log_variance;
  const at::Tensor shift = (q.mean - p.mean).square() / p.log_variance.exp();
  return 0.5 * (gap.exp() + shift - 1 - gap).sum(-1);
}

}  // namespace protocom
