#include <ATen/ATen.h>

#include "base/unit_vectors.h"
#include "fewshot/toolbox/detail/text_method.h"

namespace protocom::methods {
namespace {

struct Options {
  double scale = kClipScale;
};

EpisodeScores answer(const EpisodeBatch& batch, const Options& options, const ClassText& text) {
  return {options.scale * text.cosines(unit_vectors(batch.query), batch.classes), at::Tensor()};
}

}  // namespace

MethodDefinition zero_shot() {
  MethodSpec spec;
  spec.name = "zero-shot";
  spec.about = "the class whose text is nearest by cosine; no photo of it counts";
  spec.citation =
      "Radford et al.: Learning Transferable Visual Models From Natural Language Supervision, ICML 2021 (CLIP)";
  spec.needs = {Need::kKnowledge, Need::kMatchedText};
  spec.fewest_shots = 0;
  spec.notes = "A class without a text has the mean cosine of the others.";
  return define_with_text(
      std::move(spec), &answer,
      Parameters<Options>().real("scale", &Options::scale, {}, "factor of the cosine in the softmax"));
}

}  // namespace protocom::methods
