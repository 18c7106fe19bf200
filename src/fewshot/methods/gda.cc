#include "fewshot/toolbox/detail/closed_form.h"
#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/task_method.h"

namespace protocom::methods {
namespace {

struct Options {
  double scale = 1;
};

class GdaRun : public TaskRun {
 public:
  explicit GdaRun(const Options& options) : scale_(options.scale) {}

  void answer(const Task& task, float* logits) override {
    matrix_at(logits, task) = (scale_ * closed_form_scores(task)).cast<float>();
  }
  [[nodiscard]] LinearScores learned(const Task& task) const {
    const LinearScores unscaled = closed_form(task);
    return {scale_ * unscaled.weights, scale_ * unscaled.biases};
  }

 private:
  double scale_;
};

}  // namespace

MethodDefinition gda() {
  MethodSpec spec;
  spec.name = "gda";
  spec.about = "Gaussians with one covariance, found from the supports of each episode";
  spec.citation =
      "Wang, Liang, Sheng, He, Wang, Tan: A Hard-to-Beat Baseline for Training-free CLIP-based Adaptation, ICLR 2024";
  spec.notes =
      "Their closed form on unit features without the text term, with equal class priors. With one image per class it "
      "is the nearest class mean.";
  return define_task_method<GdaRun>(
      std::move(spec), Parameters<Options>().real("scale", &Options::scale, {1e-6}, "factor of the log density"),
      "l2n");
}

}  // namespace protocom::methods
