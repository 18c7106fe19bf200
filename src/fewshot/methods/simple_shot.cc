#include "fewshot/toolbox/detail/episode_points.h"
#include "fewshot/toolbox/detail/space_method.h"
#include "fewshot/toolbox/distances.h"

namespace protocom::methods {
namespace {

struct Options {
  std::string transform = "cl2n";  // centred by the mean of the base images, then unit length: feature_space.h
};

EpisodeScores answer(const EpisodeBatch& batch, const Options& /*options*/) {
  expect_support_images(batch);
  return {-squared_distances(batch.query, mean_prototypes(statistics_of(batch))), at::Tensor()};  // [b, q, n]
}

class SimpleShotRun : public RowRun {
 public:
  void answer(const RowEpisode& episode, float* logits) override {
    place_class_means(episode, means_);
    place_negative_distances(episode, episode.first_query(), episode.queries, means_, logits);
  }

 private:
  Floats means_;  // [n, dim]
};

std::unique_ptr<RowRun> run(const Options& /*options*/) { return std::make_unique<SimpleShotRun>(); }

}  // namespace

MethodDefinition simple_shot() {
  MethodSpec spec;
  spec.name = "simple-shot";
  spec.about = "nearest mean of centred unit vectors";
  spec.citation =
      "Wang, Chao, Weinberger, van der Maaten: SimpleShot: Revisiting Nearest-Neighbor Classification for Few-Shot "
      "Learning, 2019";
  spec.needs = {Need::kBaseFeatures};
  spec.notes = "Probabilities are softmax(-squared Euclidean distance), which the paper leaves open.";
  return define_in_space(std::move(spec), &answer, Parameters<Options>(), {"l2n", "power"}, &run);
}

}  // namespace protocom::methods
