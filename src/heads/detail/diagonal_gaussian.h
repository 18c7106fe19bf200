#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// Returns log N(x; m, diag(v)) less its constant, of points [..., q, d] under classes with mean and variance
/// [..., n, d]: [..., q, n].
at::Tensor diagonal_log_density(const at::Tensor& x, const at::Tensor& m, const at::Tensor& v);

/// A Gaussian with independent dimensions [..., d].
struct DiagonalGaussian {
  at::Tensor mean;
  at::Tensor log_variance;
};

/// Returns KL(q || p) = 1/2 sum [v_q / v_p + (m_q - m_p)^2 / v_p - 1 - log(v_q / v_p)] over the dimensions, [...].
at::Tensor divergence(const DiagonalGaussian& q, const DiagonalGaussian& p);

}  // namespace protocom
