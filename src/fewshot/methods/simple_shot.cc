#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  std::string transform = "cl2n";  // minus the mean of the base images, then unit length: feature_space.h
};

/// Scores -|x - p|^2 to the class means p.
class SimpleShotRun : public TaskRun {
 public:
  explicit SimpleShotRun(const Options& /*options*/) {}
  void answer(const Task& task, float* logits) override {
    compute_class_means(task, means_);
    compute_negative_distances(task, task.first_query(), task.queries, means_, logits);
  }
  [[nodiscard]] LinearScores learned(const Task& task) const { return distances_to_means(task, 1); }

 private:
  Floats means_;  // [n, dim]
};

}  // namespace

MethodDefinition simple_shot() {
  MethodSpec spec;
  spec.name = "simple-shot";
  spec.about = "nearest mean of centred unit vectors";
  spec.citation =
      "Wang, Chao, Weinberger, van der Maaten: SimpleShot: Revisiting Nearest-Neighbor Classification for Few-Shot "
      "Learning, 2019";
  spec.needs = {Need::kBaseFeatures};
  spec.notes = "Probabilities are softmax(-squared Euclidean distance), which the paper leaves open.";
  return define_task_method_in_space<SimpleShotRun>(std::move(spec), Parameters<Options>(), {"l2n", "power"});
}

}  // namespace protocom::methods
