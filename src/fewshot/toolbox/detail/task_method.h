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

/// A method that answers one task after the other (TaskRun), on features in a FeatureSpace.
template <typename Options>
class TaskMethod : public Method {
 public:
  /// What a method with these options makes of its classes. Throws Error where the context does not fit.
  using Prepare = std::function<MakeTaskRun(const Options& options, const MethodContext& context)>;
  /// The name of its FeatureSpace.
  using SpaceOf = std::function<std::string(const Options& options)>;

  TaskMethod(Options options, Prepare prepare, SpaceOf space)
      : options_(std::move(options)), prepare_(std::move(prepare)), space_(std::move(space)) {}

  [[nodiscard]] const FastForm* join(FastForms& forms) const override {
    auto& form = forms.shared<TaskTable>(std::make_shared<FeatureSpace>(space_(options_), forms.context()));
    form.add(prepare_(options_, forms.context()), spec().fewest_shots);
    return &form;
  }
  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    std::shared_ptr<const FeatureTransform> space;  // null: features as they are
    if (space_(options_) != "none") space = std::make_shared<FeatureSpace>(space_(options_), context);
    return task_scorer(prepare_(options_, context), std::move(space), spec().fewest_shots);
  }

 private:
  Options options_;
  Prepare prepare_;
  SpaceOf space_;
};

/// The TaskMethod::Prepare of a method that knows no more than its tasks: `Run` is constructed from its options.
template <typename Run, typename Options>
MakeTaskRun prepare_run(const Options& options, const MethodContext& /*context*/) {
  return [options] { return std::make_unique<Run>(options); };
}

/// The definition of a method that knows no more than its tasks (prepare_run). Its features are in the FeatureSpace of
/// that name.
template <typename Run, typename Options>
MethodDefinition define_task_method(MethodSpec spec, Parameters<Options> parameters, const std::string& space) {
  return define<TaskMethod<Options>>(std::move(spec), std::move(parameters), &prepare_run<Run, Options>,
                                     [space](const Options&) { return space; });
}

/// The same with the space as its last parameter, `transform`, of which `tries` are worth trying.
template <typename Run, typename Options>
MethodDefinition define_task_method_in_space(MethodSpec spec, Parameters<Options> parameters,
                                             const std::vector<std::string>& tries) {
  parameters.choice("transform", &Options::transform, FeatureSpace::names(), FeatureSpace::kText).tries(tries);
  return define<TaskMethod<Options>>(std::move(spec), std::move(parameters), &prepare_run<Run, Options>,
                                     [](const Options& options) { return options.transform; });
}

}  // namespace protocom
