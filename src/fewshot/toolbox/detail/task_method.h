#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fewshot/detail/method_definition.h"
#include "fewshot/toolbox/detail/feature_space.h"
#include "fewshot/toolbox/detail/task_table.h"

namespace protocom {

/// What a method makes of its options and of what is known.
struct PreparedTasks {
  std::shared_ptr<const FeatureTransform> space;  ///< what rows go through; null: features as they are
  MakeTaskRun make;
};

/// Constructs runs from these parts.
template <typename Run, typename... Parts>
MakeTaskRun make_run(Parts... parts) {
  return [parts...] { return std::make_unique<Run>(parts...); };
}

/// A method that answers one task after the other (TaskRun).
template <typename Options>
class TaskMethod : public Method {
 public:
  /// Throws Error where the context does not fit.
  using Prepare = std::function<PreparedTasks(const Options& options, const MethodContext& context)>;

  TaskMethod(Options options, Prepare prepare) : options_(std::move(options)), prepare_(std::move(prepare)) {}

  [[nodiscard]] const FastForm* join(FastForms& forms) const override {
    PreparedTasks prepared = prepare_(options_, forms.context());
    if (prepared.space == nullptr) prepared.space = std::make_shared<FeatureSpace>("none", forms.context());
    auto& form = forms.shared<TaskTable>(std::move(prepared.space));
    form.add(std::move(prepared.make), spec().fewest_shots);
    return &form;
  }
  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    PreparedTasks prepared = prepare_(options_, context);
    return task_scorer(std::move(prepared.make), std::move(prepared.space), spec().fewest_shots);
  }

 private:
  Options options_;
  Prepare prepare_;
};

/// The definition of a method that knows no more than its tasks: `Run` is constructed from its options. Its features
/// are in the FeatureSpace of that name.
template <typename Run, typename Options>
MethodDefinition define_task_method(MethodSpec spec, Parameters<Options> parameters, const std::string& space) {
  const auto prepare = [space](const Options& options, const MethodContext& context) -> PreparedTasks {
    return {feature_space(space, context), make_run<Run>(options)};
  };
  return define<TaskMethod<Options>>(std::move(spec), std::move(parameters), prepare);
}

/// The same with the space as its last parameter, `transform`, of which `tries` are worth trying.
template <typename Run, typename Options>
MethodDefinition define_task_method_in_space(MethodSpec spec, Parameters<Options> parameters,
                                             const std::vector<std::string>& tries) {
  parameters.choice("transform", &Options::transform, FeatureSpace::names(), FeatureSpace::kText).tries(tries);
  const auto prepare = [](const Options& options, const MethodContext& context) -> PreparedTasks {
    return {feature_space(options.transform, context), make_run<Run>(options)};
  };
  return define<TaskMethod<Options>>(std::move(spec), std::move(parameters), prepare);
}

}  // namespace protocom
