#include <ATen/ATen.h>

#include "fewshot/toolbox/detail/episode_points.h"
#include "fewshot/toolbox/detail/space_method.h"
#include "fewshot/toolbox/distances.h"

namespace protocom::methods {
namespace {

struct Options {
  int64_t k = 1;
  std::string transform = "cl2n";
};

at::Tensor votes(const at::Tensor& distance, const at::Tensor& labels, const Options& options) {
  const int64_t k = std::min(options.k, distance.size(-1));
  const at::Tensor nearest = std::get<1>(distance.topk(k, -1, /*largest=*/false));
  return at::matmul(at::zeros_like(distance).scatter_(-1, nearest, 1), labels);
}

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  constexpr double kFar = 1e30;
  const EpisodePoints points = supports_and_queries(batch);
  const at::Tensor labels = points.supports_of(points.labels);         // [b, s, n]
  const at::Tensor absent = (1 - labels.sum(-1)).unsqueeze(1) * kFar;  // [b, 1, s]
  const at::Tensor distance =                                          // [b, q, s]
      squared_distances(points.queries_of(points.features), points.supports_of(points.features)) + absent;
  const at::Tensor other = (1 - labels).transpose(1, 2).unsqueeze(1) * kFar;  // [b, 1, n, s]
  const at::Tensor nearest = (distance.unsqueeze(2) + other).amin(-1);        // [b, q, n]
  // At most 1/2, so it decides between classes of equally many votes only.
  return {votes(distance, labels, options) + 0.5 / (1 + nearest), at::Tensor()};
}

}  // namespace

MethodDefinition knn() {
  MethodSpec spec;
  spec.name = "knn";
  spec.about = "the k nearest supports vote";
  spec.citation = "Cover, Hart: Nearest Neighbor Pattern Classification, IEEE Transactions on Information Theory 1967";
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Euclidean distances. The class of the nearest support wins a draw. Logits are votes, plus up to a half for the "
      "nearest support, so probabilities are not calibrated.";
  return define_in_space(std::move(spec), &answer,
                         Parameters<Options>().whole("k", &Options::k, {1, 1e6}, "supports that vote"), {"l2n"});
}

}  // namespace protocom::methods
