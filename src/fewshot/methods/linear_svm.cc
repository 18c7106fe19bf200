#include <utility>

#include "fewshot/toolbox/detail/linear_head.h"

namespace protocom::methods {
namespace {

/// Makes the problem of squared hinge losses, each class against the rest.
LinearProblem make_problem(FloatMatrix points, FloatMatrix labels, double c) {
  LinearProblem problem;
  problem.points = std::move(points);
  problem.labels = std::move(labels);
  const FloatMatrix side = 2 * problem.labels.array() - 1;
  problem.pull = [side, weight = static_cast<float>(2 * c)](FloatMatrix& scores) {
    scores = -weight * side.array() * (1 - side.array() * scores.array()).max(0.0F);
  };
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
  return define_linear_head(std::move(spec), {make_problem, {"0.1", "10"}});
}

}  // namespace protocom::methods
