#include <cmath>

#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/task_rows.h"
#include "fewshot/toolbox/detail/text_method.h"

namespace protocom::methods {
namespace {

struct Options {
  double alpha = 1.17;
  double beta = 1;
  double scale = kClipScale;
};

/// Scores scale cos(q, t) + alpha exp(-beta (1 - q X')) Y.
class TipAdapterRun : public TaskRun {
 public:
  TipAdapterRun(const Options& options, std::shared_ptr<const ClassText> text)
      : options_(options), text_(std::move(text)) {}

  void answer(const Task& task, float* logits) override {
    text_->compute_cosines(task, logits);
    matrix_at(logits, task) *= static_cast<float>(options_.scale);
    compute_products_with_supports(task, cosines_);
    const auto alpha = static_cast<float>(options_.alpha), beta = static_cast<float>(options_.beta);
    const float* cosine = cosines_.data();
    for (int64_t i = 0; i < task.queries; ++i) {
      for (const int64_t k : task.label) logits[i * task.n + k] += alpha * std::exp(beta * (*cosine++ - 1));
    }
  }

 private:
  Options options_;
  std::shared_ptr<const ClassText> text_;
  Floats cosines_;  // [q, s]
};

}  // namespace

MethodDefinition tip_adapter() {
  MethodSpec spec;
  spec.name = "tip-adapter";
  spec.about = "cosine of text and image, plus the similarity to each labelled photo";
  spec.citation =
      "Zhang, Zhang, Fang, Gao, Li, Dai, Qiao, Li: Tip-Adapter: Training-free Adaption of CLIP for Few-shot "
      "Classification, ECCV 2022";
  spec.needs = {Need::kKnowledge, Need::kMatchedText};
  spec.fewest_shots = 0;
  spec.notes =
      "The form without training. Defaults are those of the released configuration for ImageNet with 16 images per "
      "class; the source searches both for each set and each number of images, and its released code for ImageNet does "
      "so on the test images: choose them by `protocom tune`. Without photos it is `zero-shot`.";
  return define_task_method_with_text<TipAdapterRun>(
      std::move(spec), Parameters<Options>()
                           .real("alpha", &Options::alpha, {}, "factor of the likeness to photos")
                           .tries({"0.1", "0.3", "3", "10", "30"})
                           .real("beta", &Options::beta, {}, "how fast likeness falls with the cosine")
                           .tries({"3", "5.5", "10", "20"})
                           .real("scale", &Options::scale, {}, "factor of the cosine to texts"));
}

}  // namespace protocom::methods
