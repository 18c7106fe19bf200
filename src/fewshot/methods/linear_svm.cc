#include <ATen/ATen.h>

#include "fewshot/heads/detail/linear_head.h"

namespace protocom::methods {
namespace {

/// Squared hinge losses, of each class against the rest.
LinearProblem problem_of(const at::Tensor& points, const at::Tensor& labels, double c) {
  LinearProblem problem;
  problem.points = points;
  problem.labels = labels;
  const at::Tensor side = 2 * labels - 1;
  problem.pull = [c, side](const at::Tensor& scores) { return -2 * c * side * (1 - side * scores).clamp_min(0); };
  problem.curvature = 2 * c;
  problem.bias_penalty = 1;
  return problem;
}

}  // namespace

MethodDefinition linear_svm() {
  MethodSpec spec;
  spec.name = "linear-svm";
  spec.about = "linear support vector machines, each class against the rest, on the supports of each episode";
  spec.citation = "Fan, Chang, Hsieh, Wang, Lin: LIBLINEAR: A Library for Large Linear Classification, JMLR 2008";
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Minimises |w|^2 / 2 + b^2 / 2 + c times the sum of the squared hinge losses for each class: LIBLINEAR’s "
      "default, as scikit-learn’s LinearSVC. Logits are the margins, so probabilities are not calibrated.";
  return define_linear_head(std::move(spec), {problem_of, {"0.1", "10"}});
}

}  // namespace protocom::methods
