#include <ATen/ATen.h>

#include "fewshot/toolbox/centred_points.h"
#include "fewshot/toolbox/sinkhorn.h"
#include "fewshot/toolbox/space_method.h"
#include "fewshot/toolbox/span.h"

namespace protocom::methods {
namespace {

struct Options {
  double lambda = 10;
  double rate = 0.2;
  int64_t steps = 20;
  std::string transform = "cl2n";
};

/// Logits [b, m, n] whose softmax is the transport plan's rows.
at::Tensor transported(const EpisodePoints& points, const Span& span, const at::Tensor& means, const Options& options) {
  const at::Tensor logits = -options.lambda * span.squared_distances(means);
  const at::Tensor free = points.unlabelled_of(logits);
  return logits + sinkhorn(free, balanced_columns(free)).unsqueeze(1);
}

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  const EpisodePoints points = centred_apart(episode_points(batch));
  const Span span(points.features);
  at::Tensor means = weighted_means(points.labels);
  for (int64_t step = 0; step < options.steps; ++step) {
    const at::Tensor plan = class_softmax(points.unlabelled_of(transported(points, span, means, options)));
    means = means + options.rate * (weighted_means(points.with_unlabelled(plan)) - means);
  }
  return {points.queries_of(transported(points, span, means, options)), at::Tensor()};
}

}  // namespace

MethodDefinition pt_map() {
  MethodSpec spec;
  spec.name = "pt-map";
  spec.about = "class means moved step by step to where optimal transport puts the queries";
  spec.citation =
      "Hu, Gripon, Pateux: Leveraging the Feature Distribution in Transfer-based Few-Shot Learning, ICANN 2021";
  spec.sees = Sees::kAllQueries;
  spec.assumes = Assumes::kBalancedQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "The power transform of the paper needs features that are not negative: transform=power for backbones that end "
      "in a ReLU, else cl2n. Gives every class the same number of queries. The plan’s rows are normalised last.";
  return define_in_space(std::move(spec), &answer,
                         Parameters<Options>()
                             .real("lambda", &Options::lambda, {1e-6}, "factor of the squared distance")
                             .tries({"5", "20", "40"})
                             .real("rate", &Options::rate, {0, 1}, "share of a step that the means take")
                             .tries({"0.1", "0.4"})
                             .whole("steps", &Options::steps, {0, 1e5}, "of the means")
                             .tries({"10", "50"})
                             .choice("transform", &Options::transform, FeatureSpace::names(), FeatureSpace::kText)
                             .tries({"l2n", "power"}));
}

}  // namespace protocom::methods
