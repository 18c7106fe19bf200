#include <ATen/ATen.h>

#include "fewshot/detail/method_definition.h"
#include "fewshot/plda/detail/closed_form.h"

namespace protocom::methods {
namespace {

struct Options {
  double scale = 1;
};

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  return {(options.scale * closed_form_scores(batch)).to(at::kFloat), at::Tensor()};
}

}  // namespace

MethodDefinition gda() {
  MethodSpec spec;
  spec.name = "gda";
  spec.about = "Gaussians with one covariance, found from the supports of each episode";
  spec.citation =
      "Wang, Liang, Sheng, He, Wang, Tan: A Hard-to-Beat Baseline for Training-free CLIP-based Adaptation, ICLR 2024";
  spec.notes =
      "Their closed form on unit features without the text term, all classes as likely. With one image per class it is "
      "the nearest class mean.";
  return define_answer(std::move(spec), &answer,
                       Parameters<Options>().real("scale", &Options::scale, {1e-6}, "factor of the log density"));
}

}  // namespace protocom::methods
