#include <ATen/ATen.h>

#include "fewshot/toolbox/detail/episode_points.h"
#include "fewshot/toolbox/detail/soft_k_means_steps.h"
#include "fewshot/toolbox/detail/space_method.h"

namespace protocom::methods {
namespace {

struct Options {
  double sharpness = 10;
  int64_t steps = 10;
  std::string transform = "cl2n";
};

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  const EpisodePoints points = episode_points(batch);
  const Span span(points.features);
  const at::Tensor means = soft_k_means_steps(points, span, {options.sharpness, options.steps});
  return {points.queries_of(-options.sharpness * span.squared_distances(means)), at::Tensor()};
}

}  // namespace

MethodDefinition soft_k_means() {
  MethodSpec spec;
  spec.name = "soft-k-means";
  spec.about = "class means that take in the queries by soft assignment, again and again";
  spec.citation =
      "Ren, Triantafillou, Ravi, Snell, Swersky, Tenenbaum, Larochelle, Zemel: Meta-Learning for Semi-Supervised "
      "Few-Shot Classification, ICLR 2018";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Ren et al. take one step with a learned scale; sharpness and several steps are as in today’s use as a start "
      "(Hu et al., BAVARDAGE, 2022).";
  return define_in_space(std::move(spec), &answer,
                         Parameters<Options>()
                             .real("sharpness", &Options::sharpness, {1e-6}, "factor of the squared distance")
                             .tries({"3", "5", "20", "40"})
                             .whole("steps", &Options::steps, {0, 1e5}, "assignments")
                             .tries({"1", "3", "30"}),
                         {"l2n"});
}

}  // namespace protocom::methods
