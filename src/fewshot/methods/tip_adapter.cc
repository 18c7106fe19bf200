#include <ATen/ATen.h>

#include "base/unit_vectors.h"
#include "fewshot/toolbox/detail/episode_points.h"
#include "fewshot/toolbox/detail/text_method.h"

namespace protocom::methods {
namespace {

struct Options {
  double alpha = 1.17;
  double beta = 1;
  double scale = kClipScale;
};

/// scale cos(q, t) + alpha exp(-beta (1 - q X')) Y.
EpisodeScores answer(const EpisodeBatch& batch, const Options& options, const ClassText& text) {
  const at::Tensor query = unit_vectors(batch.query);
  at::Tensor logits = options.scale * text.cosines(query, batch.classes);
  if (batch.support.size(2) > 0) {
    const EpisodePoints points = supports_and_queries(batch);
    const at::Tensor keys = unit_vectors(points.supports_of(points.features));  // [b, s, d]
    const at::Tensor affinity = (options.beta * (at::matmul(query, keys.transpose(1, 2)) - 1)).exp();
    logits = logits + options.alpha * at::matmul(affinity, points.supports_of(points.labels));
  }
  return {logits, at::Tensor()};
}

}  // namespace

MethodDefinition tip_adapter() {
  MethodSpec spec;
  spec.name = "tip-adapter";
  spec.about = "cosine of text and image, and the likeness to each labelled photo";
  spec.citation =
      "Zhang, Zhang, Fang, Gao, Li, Dai, Qiao, Li: Tip-Adapter: Training-free Adaption of CLIP for Few-shot "
      "Classification, ECCV 2022";
  spec.needs = {Need::kKnowledge, Need::kMatchedText};
  spec.fewest_shots = 0;
  spec.notes =
      "The form without training. Defaults are those of the released configuration for ImageNet with 16 images per "
      "class; the source searches both anew for each set and each number of images, and its released code for ImageNet "
      "does so on the test images: choose them by `protocom tune`. Without photos it is `zero-shot`.";
  return define_with_text(std::move(spec), &answer,
                          Parameters<Options>()
                              .real("alpha", &Options::alpha, {}, "factor of the likeness to photos")
                              .tries({"0.1", "0.3", "3", "10", "30"})
                              .real("beta", &Options::beta, {}, "how fast likeness falls with the cosine")
                              .tries({"3", "5.5", "10", "20"})
                              .real("scale", &Options::scale, {}, "factor of the cosine to texts"));
}

}  // namespace protocom::methods
