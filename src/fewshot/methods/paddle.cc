#include <ATen/ATen.h>

#include "fewshot/toolbox/detail/episode_points.h"
#include "fewshot/toolbox/detail/space_method.h"
#include "fewshot/toolbox/detail/span.h"

namespace protocom::methods {
namespace {

struct Options {
  double weight = 1;
  int64_t steps = 100;
  std::string transform = "none";
};

/// Every dimension by the range of the unlabelled images in it. Less their mean, which changes no distance, but keeps
/// the rounding of distances small, which many steps would amplify.
EpisodePoints in_units_of_range(EpisodePoints points) {
  const at::Tensor x = points.unlabelled_of(points.features);
  const at::Tensor range = x.amax(1, true) - x.amin(1, true);  // [b, 1, d]
  points.features = (points.features - x.mean(1, true)) / at::where(range > 0, range, at::ones_like(range));
  return points;
}

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  constexpr double kTiny = 1e-6;
  EpisodePoints points = episode_points(batch);
  if (points.unlabelled > 0) points = in_units_of_range(std::move(points));
  const Span span(points.features);
  at::Tensor means = weighted_means(points.labels);
  at::Tensor v = at::zeros_like(points.labels.slice(1, 0, 1));  // [b, 1, n], the dual variable
  at::Tensor logits;
  for (int64_t step = 0; step < options.steps && points.unlabelled > 0; ++step) {
    logits = options.weight * v - span.squared_distances(means) / 2;
    const at::Tensor u = class_softmax(points.unlabelled_of(logits));
    v = (u.mean(1, true) + kTiny).log() + 1;
    means = weighted_means(points.with_unlabelled(u));
  }
  if (!logits.defined()) logits = -span.squared_distances(means) / 2;
  return {points.queries_of(logits), at::Tensor()};
}

}  // namespace

MethodDefinition paddle() {
  MethodSpec spec;
  spec.name = "paddle";
  spec.about = "clusters around the supports, with a price on each class that is used at all";
  spec.citation =
      "Martin, Boudiaf, Chouzenoux, Pesquet, Ben Ayed: Towards Practical Few-Shot Query Sets: Transductive Minimum "
      "Description Length Inference, NeurIPS 2022";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Made for many classes of which few occur among the queries. weight is the authors’ lambda over the number of "
      "queries, 75 of 75 in their settings for mini-ImageNet. Dimensions are divided by the queries’ range, as in "
      "their code.";
  return define_in_space(std::move(spec), &answer,
                         Parameters<Options>()
                             .real("weight", &Options::weight, {}, "of the classes’ proportions")
                             .tries({"0.3", "0.5", "2"})
                             .whole("steps", &Options::steps, {1, 1e5}, "of all three updates")
                             .tries({"20", "50"}),
                         {"l2n", "cl2n"});
}

}  // namespace protocom::methods
