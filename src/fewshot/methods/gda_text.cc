#include <ATen/ATen.h>

#include "fewshot/method_definition.h"
#include "fewshot/plda/closed_form.h"
#include "fewshot/toolbox/class_text.h"
#include "fewshot/toolbox/episode_points.h"
#include "protocom/nn/unit_vectors.h"

namespace protocom::methods {
namespace {

struct Options {
  double alpha = 0.1;
  double scale = kClipScale;
};

class GaussianDiscriminantWithText : public Scorer {
 public:
  GaussianDiscriminantWithText(const Options& options, const MethodContext& context)
      : options_(options), text_(context) {}

 private:
  [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
    const EpisodePoints points = supports_and_queries(batch);
    const at::Tensor x = unit_vectors(points.supports_of(points.features)).to(at::kDouble);  // [b, s, d]
    const at::Tensor y = points.supports_of(points.labels);                                  // [b, s, n]
    const at::Tensor q = unit_vectors(batch.query);                                          // [b, q, d]
    std::vector<at::Tensor> scores;
    for (int64_t i = 0; i < batch.size(); ++i) scores.push_back(closed_form_scores(x[i], y[i], q[i].to(at::kDouble)));
    const at::Tensor images = options_.alpha * at::stack(scores);
    return {options_.scale * text_.cosines(q, batch.classes) + images.to(at::kFloat), at::Tensor()};
  }

  Options options_;
  ClassText text_;
};

}  // namespace

MethodDefinition gda_text() {
  MethodSpec spec;
  spec.name = "gda-text";
  spec.about = "`gda` and the cosine of text and image";
  spec.citation =
      "Wang, Liang, Sheng, He, Wang, Tan: A Hard-to-Beat Baseline for Training-free CLIP-based Adaptation, ICLR 2024";
  spec.needs = {Need::kKnowledge, Need::kMatchedText};
  spec.notes =
      "The source chooses alpha among .0001 to 100 on val images of the same classes, for ImageNet on the test images, "
      "and sees each image in ten augmented views: choose it by `protocom tune`. The default is where its search "
      "starts. With one image per class there is no "
      "covariance, and the images count little.";
  return define_scorer<GaussianDiscriminantWithText>(
      std::move(spec), Parameters<Options>()
                           .real("alpha", &Options::alpha, {}, "factor of the log density")
                           .tries({"0.0001", "0.001", "0.01", "1", "10", "100"})
                           .real("scale", &Options::scale, {}, "factor of the cosine to texts"));
}

}  // namespace protocom::methods
