#include "fewshot/heads/linear_head.h"

#include <ATen/ATen.h>

#include "fewshot/toolbox/episode_points.h"
#include "fewshot/toolbox/feature_space.h"

namespace protocom {
namespace {

struct LinearHeadOptions {
  double c = 1;
  std::string transform = "l2n";
  int64_t steps = 400;
};

class LinearScorer : public SpaceScorer {
 public:
  LinearScorer(const LinearHeadOptions& options, const LinearHead& head, const MethodContext& context)
      : SpaceScorer(options.transform, context), options_(options), head_(head) {}

  [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
    const EpisodePoints points = supports_and_queries(batch);
    LinearProblem problem =
        head_.problem(points.supports_of(points.features), points.supports_of(points.labels), options_.c);
    problem.steps = options_.steps;
    return {fitted_logits(problem, points.queries_of(points.features)), at::Tensor()};
  }

 private:
  LinearHeadOptions options_;
  LinearHead head_;
};

class LinearMethod : public Method {
 public:
  LinearMethod(LinearHeadOptions options, LinearHead head) : options_(std::move(options)), head_(std::move(head)) {}
  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    return std::make_unique<LinearScorer>(options_, head_, context);
  }

 private:
  LinearHeadOptions options_;
  LinearHead head_;
};

}  // namespace

MethodDefinition define_linear_head(MethodSpec spec, const LinearHead& head) {
  const auto parameters =
      Parameters<LinearHeadOptions>()
          .real("c", &LinearHeadOptions::c, {1e-6, 1000}, "weight of the loss against the penalty")
          .tries(head.tries_of_c)
          .choice("transform", &LinearHeadOptions::transform, {"l2n", "cl2n", "power"}, FeatureSpace::kText)
          .tries({"cl2n", "power"})
          .whole("steps", &LinearHeadOptions::steps, {1, 1e6}, "of accelerated descent");
  return define<LinearMethod>(std::move(spec), parameters, head);
}

}  // namespace protocom
