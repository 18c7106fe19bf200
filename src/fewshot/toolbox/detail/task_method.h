#pragma once
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fewshot/method_definition.h"
#include "fewshot/toolbox/detail/feature_space.h"
#include "fewshot/toolbox/detail/linear_scores.h"

namespace protocom {

/// Returns a function that constructs runs from these parts.
template <typename Run, typename... Parts>
MakeTaskRun make_run(Parts... parts) {
  return [parts...] { return std::make_unique<Run>(parts...); };
}

/// Whether a run exposes what it learns of a task: `LinearScores learned(const Task& task)`.
template <typename Run, typename = void>
struct LearnsLinearScores : std::false_type {};
template <typename Run>
struct LearnsLinearScores<Run, std::void_t<decltype(std::declval<Run&>().learned(std::declval<const Task&>()))>>
    : std::true_type {};

/// Prepares runs that are constructed from these parts, in a space.
template <typename Run, typename... Parts>
PreparedMethod runs_in(std::shared_ptr<const FeatureTransform> space, Parts... parts) {
  PreparedMethod prepared{space, make_run<Run>(parts...)};
  if constexpr (LearnsLinearScores<Run>::value)
    prepared.together = linear_placer(space, [parts...](const Task& task) { return Run(parts...).learned(task); });
  return prepared;
}

/// Whether options name the feature space, as `transform`.
template <typename Options, typename = void>
struct HasTransform : std::false_type {};
template <typename Options>
struct HasTransform<Options, std::void_t<decltype(Options::transform)>> : std::true_type {};

/// A method that answers one task after the other (TaskRun).
template <typename Options>
class TaskMethod : public Method {
 public:
  /// Throws Error if the context does not fit.
  using Prepare = std::function<PreparedMethod(const Options& options, const MethodContext& context)>;

  TaskMethod(Options options, Prepare prepare) : options_(std::move(options)), prepare_(std::move(prepare)) {}

  [[nodiscard]] PreparedMethod prepare(const MethodContext& context) const override {
    PreparedMethod prepared = prepare_(options_, context);
    prepared.fewest_shots = spec().fewest_shots;
    return prepared;
  }

  [[nodiscard]] bool needs(Need need) const override {
    if constexpr (HasTransform<Options>::value) {
      if (need == Need::kBaseFeatures && !FeatureSpace::needs_base(options_.transform)) return false;
    }
    return Method::needs(need);
  }

 private:
  Options options_;
  Prepare prepare_;
};

/// Defines a method that uses its tasks alone: `Run` is constructed from its options. Its features are in the
/// FeatureSpace of that name.
template <typename Run, typename Options>
MethodDefinition define_task_method(MethodSpec spec, Parameters<Options> parameters, const std::string& space) {
  const auto prepare = [space](const Options& options, const MethodContext& context) -> PreparedMethod {
    return runs_in<Run>(feature_space(space, context), options);
  };
  return define<TaskMethod<Options>>(std::move(spec), std::move(parameters), prepare);
}

/// Defines such a method with the space as its last parameter, `transform`, of which `tries` are worth trying.
template <typename Run, typename Options>
MethodDefinition define_task_method_in_space(MethodSpec spec, Parameters<Options> parameters,
                                             const std::vector<std::string>& tries) {
  parameters.choice("transform", &Options::transform, FeatureSpace::names(), FeatureSpace::kText).tries(tries);
  const auto prepare = [](const Options& options, const MethodContext& context) -> PreparedMethod {
    return runs_in<Run>(feature_space(options.transform, context), options);
  };
  return define<TaskMethod<Options>>(std::move(spec), std::move(parameters), prepare);
}

}  // namespace protocom
