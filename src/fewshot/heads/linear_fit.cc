#include "fewshot/heads/detail/linear_fit.h"

#include <ATen/ATen.h>

#include <cmath>

namespace protocom {

LinearFit fit_linear(const LinearProblem& problem) {
  const at::Tensor gram = at::matmul(problem.points, problem.points.transpose(1, 2));  // [b, s, s]
  const int64_t s = gram.size(1);
  // The largest eigenvalue of the Gram matrix with the bias’s ones is at most its trace, s + s.
  const double smooth = 1 + problem.curvature * 2 * static_cast<double>(s);
  const double momentum = (std::sqrt(smooth) - 1) / (std::sqrt(smooth) + 1);
  const at::Tensor present = problem.labels.sum(-1, true);
  at::Tensor a = at::zeros_like(problem.labels);
  at::Tensor bias = at::zeros_like(problem.labels.slice(1, 0, 1));
  at::Tensor look_a = a;  // where the gradient is taken
  at::Tensor look_bias = bias;
  for (int64_t step = 0; step < problem.steps; ++step) {
    const at::Tensor pull = problem.pull(look_bias + at::matmul(gram, look_a)) * present;
    const at::Tensor next_a = look_a - (look_a + pull) / smooth;
    const at::Tensor next_bias = look_bias - (problem.bias_penalty * look_bias + pull.sum(1, true)) / smooth;
    look_a = next_a + momentum * (next_a - a);
    look_bias = next_bias + momentum * (next_bias - bias);
    a = next_a;
    bias = next_bias;
  }
  return {a.transpose(1, 2), bias};
}

LinearProblem cross_entropy_problem(const at::Tensor& points, const at::Tensor& labels, double c) {
  LinearProblem problem;
  problem.points = points;
  problem.labels = labels;
  problem.pull = [labels, c](const at::Tensor& scores) { return c * (scores.softmax(-1) - labels); };
  problem.curvature = c / 2;  // of log-sum-exp
  return problem;
}

at::Tensor fitted_logits(const LinearProblem& problem, const at::Tensor& queries) {
  const LinearFit fit = fit_linear(problem);
  const at::Tensor weights = at::matmul(fit.coefficients, problem.points);  // [b, n, d]
  return at::matmul(queries, weights.transpose(1, 2)) + fit.bias;
}

}  // namespace protocom
