#pragma once
#include <ATen/core/Tensor.h>

#include <functional>

namespace protocom {

/// A linear classifier w_k.x + b_k for each of n classes, as combinations of the points it was fitted on.
struct LinearFit {
  at::Tensor coefficients;  ///< [b, n, s]: w_k is their combination of the points
  at::Tensor bias;          ///< [b, 1, n]
};

/// What fit_linear() minimises: sum_k |w_k|^2 / 2 (+ b_k^2 / 2) + the loss of points of unit length.
struct LinearProblem {
  at::Tensor points;                                         ///< [b, s, d], of length at most 1
  at::Tensor labels;                                         ///< [b, s, n]: 1 for a point's class; no 1: not a point
  std::function<at::Tensor(const at::Tensor& scores)> pull;  ///< gradient of the loss in the scores [b, s, n]
  double curvature = 0.5;   ///< bound of the second derivative of a point's loss in its scores
  double bias_penalty = 0;  ///< 1: the bias counts as one more weight
  int64_t steps = 400;
};

/// Nesterov's accelerated descent for a strongly convex function (Introductory Lectures on Convex Optimization, 2004,
/// scheme 2.2.22), in the coefficients of the points.
LinearFit fit_linear(const LinearProblem& problem);

/// Multinomial logistic regression: the loss is c times the sum of the points' cross-entropies.
LinearProblem cross_entropy_problem(const at::Tensor& points, const at::Tensor& labels, double c);

/// What the classifier that minimises the problem says of queries [b, q, d]: w_k.x + b_k, [b, q, n].
at::Tensor fitted_logits(const LinearProblem& problem, const at::Tensor& queries);

}  // namespace protocom
