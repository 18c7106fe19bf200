#include <ATen/ATen.h>

#include "base/unit_vectors.h"
#include "fewshot/plda/detail/closed_form.h"
#include "fewshot/toolbox/detail/text_method.h"

namespace protocom::methods {
namespace {

struct Options {
  double alpha = 0.1;
  double scale = kClipScale;
};

EpisodeScores answer(const EpisodeBatch& batch, const Options& options, const ClassText& text) {
  const at::Tensor images = options.alpha * closed_form_scores(batch);
  return {options.scale * text.cosines(unit_vectors(batch.query), batch.classes) + images.to(at::kFloat), at::Tensor()};
}

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
  return define_with_text(std::move(spec), &answer,
                          Parameters<Options>()
                              .real("alpha", &Options::alpha, {}, "factor of the log density")
                              .tries({"0.0001", "0.001", "0.01", "1", "10", "100"})
                              .real("scale", &Options::scale, {}, "factor of the cosine to texts"));
}

}  // namespace protocom::methods
