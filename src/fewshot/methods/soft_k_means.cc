#include "fewshot/toolbox/detail/soft_k_means.h"

#include "fewshot/toolbox/detail/task_method.h"

namespace protocom::methods {
namespace {

struct Options {
  double sharpness = 10;
  int64_t steps = 10;
  std::string transform = "cl2n";
};

class SoftKMeansRun : public TaskRun {
 public:
  explicit SoftKMeansRun(const Options& options) : means_({options.sharpness, options.steps}) {}

  void answer(const Task& task, float* logits) override {
    const Floats& of_points = means_.place(task, task.rows, task.dim);
    compute_logits_of_queries(task, of_points, means_.stride(), logits);
  }

 private:
  SoftKMeans means_;
};

}  // namespace

MethodDefinition soft_k_means() {
  MethodSpec spec;
  spec.name = "soft-k-means";
  spec.about = "class means updated repeatedly with softly assigned queries";
  spec.citation =
      "Ren, Triantafillou, Ravi, Snell, Swersky, Tenenbaum, Larochelle, Zemel: Meta-Learning for Semi-Supervised "
      "Few-Shot Classification, ICLR 2018";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Ren et al. take one step with a learned scale; sharpness and several steps are as at the start of BAVARDAGE (Hu "
      "et al., 2022).";
  return define_task_method_in_space<SoftKMeansRun>(
      std::move(spec),
      Parameters<Options>()
          .real("sharpness", &Options::sharpness, {1e-6}, "factor of the squared distance")
          .tries({"3", "5", "20", "40"})
          .whole("steps", &Options::steps, {0, 1e5}, "assignments")
          .tries({"1", "3", "30"}),
      {"l2n"});
}

}  // namespace protocom::methods
