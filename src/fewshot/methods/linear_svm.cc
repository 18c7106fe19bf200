#include <ATen/ATen.h>

#include "fewshot/heads/linear_fit.h"
#include "fewshot/method_definition.h"
#include "fewshot/toolbox/episode_points.h"
#include "fewshot/toolbox/feature_space.h"

namespace protocom::methods {
namespace {

struct Options {
  double c = 1;
  std::string transform = "l2n";
  int64_t steps = 400;
};

class LinearSvm : public SpaceScorer {
 public:
  LinearSvm(const Options& options, const MethodContext& context)
      : SpaceScorer(options.transform, context), options_(options) {}

  [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
    const EpisodePoints points = supports_and_queries(batch);
    LinearProblem problem;
    problem.points = points.supports_of(points.features);
    problem.labels = points.supports_of(points.labels);
    const at::Tensor side = 2 * problem.labels - 1;  // of each class against the rest
    problem.pull = [&](const at::Tensor& scores) { return -2 * options_.c * side * (1 - side * scores).clamp_min(0); };
    problem.curvature = 2 * options_.c;
    problem.bias_penalty = 1;
    problem.steps = options_.steps;
    return {fitted_logits(problem, points.queries_of(points.features)), at::Tensor()};
  }

 private:
  Options options_;
};

}  // namespace

MethodDefinition linear_svm() {
  MethodSpec spec;
  spec.name = "linear-svm";
  spec.about = "linear support vector machines, each class against the rest, on the supports of each episode";
  spec.citation = "Fan, Chang, Hsieh, Wang, Lin: LIBLINEAR: A Library for Large Linear Classification, JMLR 2008";
  spec.needs = {Need::kBaseFeatures, Need::kSupportImages};
  spec.notes =
      "Minimises |w|^2 / 2 + b^2 / 2 + c times the sum of the squared hinge losses for each class: LIBLINEAR’s "
      "default, as scikit-learn’s LinearSVC. Logits are the margins, so probabilities are not calibrated.";
  return define_scorer<LinearSvm>(
      std::move(spec), Parameters<Options>()
                           .real("c", &Options::c, {1e-6, 1000}, "weight of the loss against the penalty")
                           .tries({"0.1", "10"})
                           .choice("transform", &Options::transform, {"l2n", "cl2n", "power"}, FeatureSpace::kText)
                           .tries({"cl2n", "power"})
                           .whole("steps", &Options::steps, {1, 1e6}, "of accelerated descent"));
}

}  // namespace protocom::methods
