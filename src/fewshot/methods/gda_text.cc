#include "fewshot/toolbox/detail/closed_form.h"
#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/text_method.h"

namespace protocom::methods {
namespace {

struct Options {
  double alpha = 0.1;
  double scale = kClipScale;
};

class GdaTextRun : public TaskRun {
 public:
  GdaTextRun(const Options& options, std::shared_ptr<const ClassText> text)
      : options_(options), text_(std::move(text)) {}

  void answer(const Task& task, float* logits) override {
    text_->compute_cosines(task, logits);
    matrix_at(logits, task) = static_cast<float>(options_.scale) * matrix_at(logits, task) +
                              (options_.alpha * closed_form_scores(task)).cast<float>();
  }

 private:
  Options options_;
  std::shared_ptr<const ClassText> text_;
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
  return define_task_method_with_text<GdaTextRun>(
      std::move(spec), Parameters<Options>()
                           .real("alpha", &Options::alpha, {}, "factor of the log density")
                           .tries({"0.0001", "0.001", "0.01", "1", "10", "100"})
                           .real("scale", &Options::scale, {}, "factor of the cosine to texts"));
}

}  // namespace protocom::methods
