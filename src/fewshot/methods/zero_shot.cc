#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/text_method.h"

namespace protocom::methods {
namespace {

struct Options {
  double scale = kClipScale;
};

class ZeroShotRun : public TaskRun {
 public:
  ZeroShotRun(const Options& options, std::shared_ptr<const ClassText> text)
      : scale_(options.scale), text_(std::move(text)) {}

  void answer(const Task& task, float* logits) override {
    text_->compute_cosines(task, logits);
    matrix_at(logits, task) *= static_cast<float>(scale_);
  }

 private:
  double scale_;
  std::shared_ptr<const ClassText> text_;
};

}  // namespace

MethodDefinition zero_shot() {
  MethodSpec spec;
  spec.name = "zero-shot";
  spec.about = "the class whose text is nearest by cosine; photos are not used";
  spec.citation =
      "Radford et al.: Learning Transferable Visual Models From Natural Language Supervision, ICML 2021 (CLIP)";
  spec.needs = {Need::kKnowledge, Need::kMatchedText};
  spec.fewest_shots = 0;
  spec.notes = "A class without a text has the mean cosine of the others.";
  return define_task_method_with_text<ZeroShotRun>(
      std::move(spec), Parameters<Options>().real("scale", &Options::scale, {}, "factor of the cosine in the softmax"));
}

}  // namespace protocom::methods
