#pragma once
#include <functional>

#include "base/matrix.h"

namespace protocom {

/// A linear classifier w_k.x + b_k for each of n classes, as combinations of the points it was fitted on.
struct LinearFit {
  FloatMatrix coefficients;  ///< [s, n]: w_k is the combination of the points by column k
  Eigen::RowVectorXf bias;   ///< [n]

  /// The w_k [n, d] of points [s, d].
  [[nodiscard]] FloatMatrix weights(const FloatMatrix& points) const { return coefficients.transpose() * points; }
};

/// What fit_linear() minimises: sum_k |w_k|^2 / 2 (+ b_k^2 / 2) + the loss of points of unit length.
struct LinearProblem {
  FloatMatrix points;                             ///< [s, d], of length at most 1
  FloatMatrix labels;                             ///< [s, n]: 1 for a point's class; no 1: not a point
  std::function<void(FloatMatrix& scores)> pull;  ///< scores [s, n] become the gradient of the loss in them
  double curvature = 0.5;                         ///< bound of the second derivative of a point's loss in its scores
  double bias_penalty = 0;                        ///< 1: the bias counts as one more weight
  int64_t steps = 400;
};

/// Nesterov's accelerated descent for a strongly convex function (Introductory Lectures on Convex Optimization, 2004,
/// scheme 2.2.22), in the coefficients of the points.
LinearFit fit_linear(const LinearProblem& problem);

/// Multinomial logistic regression: the loss is c times the sum of the points' cross-entropies.
LinearProblem cross_entropy_problem(FloatMatrix points, FloatMatrix labels, double c);

/// The scores of queries [q, d] by the classifier that minimises the problem: w_k.x + b_k, [q, n].
FloatMatrix fitted_logits(const LinearProblem& problem, const FloatMatrix& queries);

}  // namespace protocom
