#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// Gaussian discriminant analysis of one episode by the closed form of Wang et al. (ICLR 2024), all classes as likely:
/// q P mu_k' - mu_k P mu_k' / 2 with P = d ((N - 1) Sigma + tr(Sigma) I)^-1, where Sigma is the covariance of the N
/// supports about their class means. Supports x [s, d], their labels y [s, n] (1 at the class, zeros where there is no
/// image; every class has one), queries q [m, d]: float64 [m, n]. Without two different images of one class P is I.
at::Tensor closed_form_scores(const at::Tensor& x, const at::Tensor& y, const at::Tensor& q);

}  // namespace protocom
