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

class LogisticRegression : public SpaceScorer {
 public:
  LogisticRegression(const Options& options, const MethodContext& context)
      : SpaceScorer(options.transform, context), options_(options) {}

  [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
    const EpisodePoints points = supports_and_queries(batch);
    LinearProblem problem =
        cross_entropy_problem(points.supports_of(points.features), points.supports_of(points.labels), options_.c);
    problem.steps = options_.steps;
    return {fitted_logits(problem, points.queries_of(points.features)), at::Tensor()};
  }

 private:
  Options options_;
};

}  // namespace

MethodDefinition logistic_regression() {
  MethodSpec spec;
  spec.name = "logistic-regression";
  spec.about = "multinomial logistic regression on the supports of each episode";
  spec.citation =
      "Tian, Wang, Krishnan, Tenenbaum, Isola: Rethinking Few-Shot Image Classification: a Good Embedding Is All You "
      "Need?, ECCV 2020";
  spec.needs = {Need::kBaseFeatures, Need::kSupportImages};
  spec.notes =
      "Minimises |W|^2 / 2 + c times the sum of the cross-entropies, with a bias that is not penalised: what "
      "scikit-learn’s LogisticRegression minimises.";
  return define_scorer<LogisticRegression>(
      std::move(spec), Parameters<Options>()
                           .real("c", &Options::c, {1e-6, 1000}, "weight of the loss against the penalty")
                           .tries({"0.1", "10", "100"})
                           .choice("transform", &Options::transform, {"l2n", "cl2n", "power"}, FeatureSpace::kText)
                           .tries({"cl2n", "power"})
                           .whole("steps", &Options::steps, {1, 1e6}, "of accelerated descent"));
}

}  // namespace protocom::methods
