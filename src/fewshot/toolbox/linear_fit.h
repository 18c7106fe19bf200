#pragma once
#include <functional>

#include "base/matrix.h"

namespace protocom {

/// Linear classifier w_k.x + b_k for each of n classes, as combinations of the points it was fitted on.
struct LinearFit {
  FloatMatrix coefficients;  ///< [s, n]: w_k is the combination of the points by column k
  Eigen::RowVectorXf bias;   ///< [n]

  /// Returns the weights w_k [n, d], given points [s, d].
  [[nodiscard]] FloatMatrix weights(const FloatMatrix& points) const { return coefficients.transpose() * points; }
};

/// Objective of fit_linear(): sum_k |w_k|^2 / 2 (+ b_k^2 / 2) + the loss of points of length at most 1.
struct LinearProblem {
  FloatMatrix points;  ///< [s, d], of length at most 1
  FloatMatrix labels;  ///< [s, n]: 1 for a point's class; a row of zeros: the point is left out
  std::function<void(FloatMatrix& scores)> pull;  ///< turns scores [s, n] into the gradient of the loss in them
  double curvature = 0.5;                         ///< bound on the second derivative of a point's loss in its scores
  double bias_penalty = 0;                        ///< 1: the bias is penalized like a weight
  int64_t steps = 400;
};

/// Minimises the objective by Nesterov's accelerated descent for a strongly convex function (Introductory Lectures on
/// Convex Optimization, 2004, scheme 2.2.22), in the coefficients of the points.
LinearFit fit_linear(const LinearProblem& problem);

/// Makes the problem of multinomial logistic regression: the loss is c times the sum of the points' cross-entropies.
LinearProblem cross_entropy_problem(FloatMatrix points, FloatMatrix labels, double c);

/// Returns the scores w_k.x + b_k of queries [q, d], [q, n], by the classifier that minimises the problem.
FloatMatrix fitted_logits(const LinearProblem& problem, const FloatMatrix& queries);

}  // namespace protocom
