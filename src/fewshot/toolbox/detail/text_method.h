#pragma once
#include <memory>
#include <utility>

#include "fewshot/method_definition.h"
#include "fewshot/toolbox/detail/class_text.h"
#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/task_method.h"

namespace protocom {

/// Returns the class probabilities by the texts alone of `count` points of a task from `first` on:
/// softmax(scale * cosine), [count, n].
inline DoubleMatrix stated(const ClassText& text, const Task& task, int64_t first, int64_t count, double scale) {
  FloatMatrix cosines(count, task.n);
  text.compute_cosines(task, first, count, cosines.data());
  return softmax(scale * cosines.cast<double>());
}

/// Defines a method that answers one task after the other on features at unit length: `Run` is constructed from its
/// options and the texts of the classes.
template <typename Run, typename Options>
MethodDefinition define_task_method_with_text(MethodSpec spec, Parameters<Options> parameters) {
  const auto prepare = [](const Options& options, const MethodContext& context) -> PreparedMethod {
    return {feature_space("l2n", context), make_run<Run>(options, std::make_shared<const ClassText>(context))};
  };
  return define<TaskMethod<Options>>(std::move(spec), std::move(parameters), prepare);
}

}  // namespace protocom
