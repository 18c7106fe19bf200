#include "fewshot/toolbox/detail/linear_head.h"

#include <utility>

#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/task_method.h"

namespace protocom {
namespace {

struct LinearHeadOptions {
  double c = 1;
  std::string transform = "l2n";
  int64_t steps = 400;
};

class LinearHeadRun : public TaskRun {
 public:
  LinearHeadRun(const LinearHead& head, const LinearHeadOptions& options)
      : problem_(head.problem), c_(options.c), steps_(options.steps) {}

  void answer(const Task& task, float* logits) override {
    matrix_at(logits, task) = fitted_logits(problem_of(task), matrix_of<float>(task, task.first_query(), task.queries));
  }
  [[nodiscard]] LinearScores learned(const Task& task) const {
    const LinearProblem problem = problem_of(task);
    const LinearFit fit = fit_linear(problem);
    return {fit.weights(problem.points).cast<double>(), fit.bias.transpose().cast<double>()};
  }

 private:
  [[nodiscard]] LinearProblem problem_of(const Task& task) const {
    const FloatMatrix labels = labels_of_supports(task).cast<float>();
    LinearProblem problem = problem_(matrix_of<float>(task, 0, task.supports()), labels, c_);
    problem.steps = steps_;
    return problem;
  }

  LinearProblem (*problem_)(FloatMatrix points, FloatMatrix labels, double c);
  double c_;
  int64_t steps_;
};

}  // namespace

MethodDefinition define_linear_head(MethodSpec spec, const LinearHead& head) {
  auto parameters =
      Parameters<LinearHeadOptions>()
          .real("c", &LinearHeadOptions::c, {1e-6, 1000}, "weight of the loss against the penalty")
          .tries(head.tries_of_c)
          .choice("transform", &LinearHeadOptions::transform, {"l2n", "cl2n", "power"}, FeatureSpace::kText)
          .tries({"cl2n", "power"})
          .whole("steps", &LinearHeadOptions::steps, {1, 1e6}, "of accelerated descent");
  const auto prepare = [head](const LinearHeadOptions& options, const MethodContext& context) -> PreparedMethod {
    return runs_in<LinearHeadRun>(feature_space(options.transform, context), head, options);
  };
  return define<TaskMethod<LinearHeadOptions>>(std::move(spec), std::move(parameters), prepare);
}

}  // namespace protocom
