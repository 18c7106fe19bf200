#include <ATen/ATen.h>

#include "fewshot/method_definition.h"
#include "fewshot/toolbox/class_text.h"
#include "protocom/nn/unit_vectors.h"

namespace protocom::methods {
namespace {

struct Options {
  double scale = kClipScale;
};

class ZeroShot : public Scorer {
 public:
  ZeroShot(const Options& options, const MethodContext& context) : options_(options), text_(context) {}

 private:
  [[nodiscard]] int64_t fewest_shots() const override { return 0; }
  [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
    return {options_.scale * text_.cosines(unit_vectors(batch.query), batch.classes), at::Tensor()};
  }

  Options options_;
  ClassText text_;
};

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
  return define_scorer<ZeroShot>(
      std::move(spec), Parameters<Options>().real("scale", &Options::scale, {}, "factor of the cosine in the softmax"));
}

}  // namespace protocom::methods
