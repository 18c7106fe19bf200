#include <memory>
#include <utility>

#include "fewshot/paper/primitive_enhancing.h"
#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  double strength = 0.1;
  double scale = 10;
};

class Enhanced : public FeatureTransform {
 public:
  explicit Enhanced(double strength) : strength_(strength) {}

  void map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const override {
    for (int64_t i = 0; i < rows.rows(); ++i) rows.row(i) = enhanced_primitives(features.row(i), strength_);
  }
  [[nodiscard]] bool same_as(const FeatureTransform& other) const override {
    const auto* enhanced = dynamic_cast<const Enhanced*>(&other);
    return enhanced != nullptr && enhanced->strength_ == strength_;
  }

 private:
  double strength_;
};

class CpdeRun : public TaskRun {
 public:
  explicit CpdeRun(double scale) : scale_(scale) {}

  void answer(const Task& task, float* logits) override {
    compute_class_means(task, means_);
    compute_cosines(task, task.first_query(), task.queries, means_, logits);
    scale_logits(task, scale_, logits);
  }

 private:
  double scale_;
  Floats means_;  // [n, dim], of enhanced features
};

PreparedMethod prepare_enhanced(const Options& options, const MethodContext& /*context*/) {
  return {std::make_shared<const Enhanced>(options.strength), make_run<CpdeRun>(options.scale)};
}

}  // namespace

MethodDefinition cpde() {
  MethodSpec spec;
  spec.name = "cpde";
  spec.about = "nearest class mean by cosine, of features whose strong channels are amplified";
  spec.citation =
      "Zou, Zhang, Chen, Tian, Wang, Moura: Compositional Few-Shot Recognition with Primitive Discovery and Enhancing, "
      "ACM Multimedia 2020";
  spec.notes =
      "The head of a backbone trained by `protocom pretrain --method cpde`, at the strength it was trained with; it "
      "takes any features, but those of other backbones lose accuracy. The source gives the principle of the enhancing "
      "and no code: its form is ours, channels weighted by a softmax of themselves.";
  return define<TaskMethod<Options>>(std::move(spec),
                                     Parameters<Options>()
                                         .real("strength", &Options::strength, {0, 100}, "of the enhancing; 0: none")
                                         .tries({"0", "0.25", "0.5", "1"})
                                         .real("scale", &Options::scale, {}, "factor of the cosine"),
                                     &prepare_enhanced);
}

}  // namespace protocom::methods
