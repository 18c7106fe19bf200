#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  double sharpness = 1;
};

class ProtoNetRun : public TaskRun {
 public:
  explicit ProtoNetRun(const Options& options) : sharpness_(options.sharpness) {}

  void answer(const Task& task, float* logits) override {
    compute_class_means(task, means_);
    compute_negative_distances(task, task.first_query(), task.queries, means_, logits);
    scale_logits(task, sharpness_, logits);
  }
  [[nodiscard]] LinearScores learned(const Task& task) const { return distances_to_means(task, sharpness_); }
  [[nodiscard]] const float* prototypes() const override { return means_.data(); }

 private:
  double sharpness_;
  Floats means_;  // [n, dim]
};

}  // namespace

MethodDefinition proto_net() {
  MethodSpec spec;
  spec.name = "proto-net";
  spec.about = "nearest class mean by squared Euclidean distance";
  spec.citation = "Snell, Swersky, Zemel: Prototypical Networks for Few-shot Learning, NeurIPS 2017";
  spec.notes = "The classifier of ProtoNet on a frozen backbone, without ProtoNet’s episodic training of the backbone.";
  return define_task_method<ProtoNetRun>(
      std::move(spec),
      Parameters<Options>().real("sharpness", &Options::sharpness, {1e-6}, "factor of the squared distance"), "none");
}

}  // namespace protocom::methods
