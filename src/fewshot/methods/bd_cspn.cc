#include <ATen/ATen.h>

#include "fewshot/toolbox/cosine_classifier.h"
#include "fewshot/toolbox/detail/rectified_prototypes.h"
#include "fewshot/toolbox/detail/rectified_rows.h"
#include "fewshot/toolbox/detail/space_method.h"
#include "fewshot/toolbox/distances.h"

namespace protocom::methods {
namespace {

struct Options : RectifyOptions {
  std::string transform = "cl2n";
};

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  const EpisodePoints points = episode_points(batch);
  const at::Tensor prototypes = rectified_prototypes(points, options);
  if (options.variant == "sum") return {10 * protocom::cosine_similarity(batch.query, prototypes), at::Tensor()};
  return {-squared_distances(batch.query, prototypes), at::Tensor()};
}

class BdCspnRun : public RowRun {
 public:
  explicit BdCspnRun(const Options& options) : by_cosine_(options.variant == "sum"), rectified_(options) {}

  void answer(const RowEpisode& episode, float* logits) override {
    const Floats& prototypes = rectified_.place(episode);
    const int64_t first = episode.first_query();
    if (!by_cosine_) return place_negative_distances(episode, first, episode.queries, prototypes, logits);
    place_cosines(episode, first, episode.queries, prototypes, logits);
    for (int64_t i = 0; i < episode.queries * episode.n; ++i) logits[i] *= 10;
  }

 private:
  bool by_cosine_;
  RectifiedRows rectified_;
};

std::unique_ptr<RowRun> run(const Options& options) { return std::make_unique<BdCspnRun>(options); }

}  // namespace

MethodDefinition bd_cspn() {
  MethodSpec spec;
  spec.name = "bd-cspn";
  spec.about = "prototypes rectified by pseudo-labelled queries, which are first moved to the supports’ mean";
  spec.citation = "Liu, Song, Qin: Prototype Rectification for Few-Shot Learning, ECCV 2020";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "The authors published no code. variant=mean is Veilleux et al.’s form (NeurIPS 2021; answers by Euclidean "
      "distance), variant=sum the paper’s equations (answers by cosine; with scale=1 as in easyfsl), but all queries "
      "join, not the 8 most confident a class. Answers are about the queries where they are, not moved.";
  return define_in_space(
      std::move(spec), &answer,
      Parameters<Options>()
          .choice("variant", &Options::variant, {"mean", "sum"}, "how pseudo-labelled images are weighed; see notes")
          .tries({"sum"})
          .real("scale", &Options::scale, {}, "factor of the cosine in the weights")
          .tries({"1", "5", "20"}),
      {"l2n"}, &run);
}

}  // namespace protocom::methods
