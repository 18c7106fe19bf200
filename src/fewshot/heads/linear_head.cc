#include "fewshot/heads/detail/linear_head.h"

#include <ATen/ATen.h>

#include "fewshot/toolbox/detail/episode_points.h"
#include "fewshot/toolbox/detail/space_method.h"

namespace protocom {
namespace {

struct LinearHeadOptions {
  double c = 1;
  std::string transform = "l2n";
  int64_t steps = 400;
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
  const auto answer = [problem_of = head.problem](const EpisodeBatch& batch,
                                                  const LinearHeadOptions& options) -> EpisodeScores {
    const EpisodePoints points = supports_and_queries(batch);
    LinearProblem problem =
        problem_of(points.supports_of(points.features), points.supports_of(points.labels), options.c);
    problem.steps = options.steps;
    return {fitted_logits(problem, points.queries_of(points.features)), at::Tensor()};
  };
  return define<SpaceMethod<LinearHeadOptions>>(std::move(spec), parameters, answer);
}

}  // namespace protocom
