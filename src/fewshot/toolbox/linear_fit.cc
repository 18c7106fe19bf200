#include "fewshot/toolbox/linear_fit.h"

#include <cmath>
#include <utility>

namespace protocom {

LinearFit fit_linear(const LinearProblem& problem) {
  const FloatMatrix gram = problem.points * problem.points.transpose();  // [s, s]
  // With the bias's column of ones, the largest eigenvalue of the Gram matrix is at most its trace, s + s.
  const double smooth = 1 + problem.curvature * 2 * static_cast<double>(gram.rows());
  const auto momentum = static_cast<float>((std::sqrt(smooth) - 1) / (std::sqrt(smooth) + 1));
  const auto rate = static_cast<float>(1 / smooth), penalty = static_cast<float>(problem.bias_penalty);
  const Eigen::VectorXf present = problem.labels.rowwise().sum();
  LinearFit fit{FloatMatrix::Zero(problem.labels.rows(), problem.labels.cols()),
                Eigen::RowVectorXf::Zero(problem.labels.cols())};
  LinearFit look = fit;  // point at which the gradient is taken
  LinearFit next = fit;
  FloatMatrix pull = fit.coefficients;
  for (int64_t step = 0; step < problem.steps; ++step) {
    pull.noalias() = gram * look.coefficients;
    pull.rowwise() += look.bias;
    problem.pull(pull);
    pull.array().colwise() *= present.array();
    next.coefficients = look.coefficients - rate * (look.coefficients + pull);
    next.bias = look.bias - rate * (penalty * look.bias + pull.colwise().sum());
    look.coefficients = next.coefficients + momentum * (next.coefficients - fit.coefficients);
    look.bias = next.bias + momentum * (next.bias - fit.bias);
    std::swap(fit, next);
  }
  return fit;
}

LinearProblem cross_entropy_problem(FloatMatrix points, FloatMatrix labels, double c) {
  LinearProblem problem;
  problem.points = std::move(points);
  problem.labels = std::move(labels);
  problem.pull = [labels = problem.labels, weight = static_cast<float>(c)](FloatMatrix& scores) {
    for (int64_t i = 0; i < scores.rows(); ++i) {
      auto own = scores.row(i).array();
      own = (own - own.maxCoeff()).exp();
      own *= weight / own.sum();
    }
    scores -= weight * labels;
  };
  problem.curvature = c / 2;  // of log-sum-exp
  return problem;
}

FloatMatrix fitted_logits(const LinearProblem& problem, const FloatMatrix& queries) {
  const LinearFit fit = fit_linear(problem);
  FloatMatrix logits = queries * fit.weights(problem.points).transpose();
  logits.rowwise() += fit.bias;
  return logits;
}

}  // namespace protocom
