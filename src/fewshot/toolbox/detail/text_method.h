#pragma once
#include <memory>
#include <utility>

#include "fewshot/detail/method_definition.h"
#include "fewshot/toolbox/detail/class_text.h"
#include "fewshot/toolbox/detail/task_method.h"

namespace protocom {

/// The definition of a method that answers one task after the other on features at unit length: `Run` is constructed
/// from its options and the texts of the classes.
template <typename Run, typename Options>
MethodDefinition define_task_method_with_text(MethodSpec spec, Parameters<Options> parameters) {
  const auto prepare = [](const Options& options, const MethodContext& context) -> MakeTaskRun {
    return
        [options, text = std::make_shared<const ClassText>(context)] { return std::make_unique<Run>(options, text); };
  };
  return define<TaskMethod<Options>>(std::move(spec), std::move(parameters), prepare,
                                     [](const Options&) { return "l2n"; });
}

/// The definition of a method that is a function of a batch, its options and the texts of the classes.
template <typename Options>
MethodDefinition define_with_text(MethodSpec spec,
                                  EpisodeScores (*answer)(const EpisodeBatch&, const Options&, const ClassText&),
                                  Parameters<Options> parameters) {
  const auto make = [answer, fewest = spec.fewest_shots](const Options& options, const MethodContext& context) {
    const auto own = [answer, options, text = ClassText(context)](const EpisodeBatch& batch) {
      return answer(batch, options, text);
    };
    return scorer_of(own, nullptr, fewest);
  };
  return define_scorer(std::move(spec), make, std::move(parameters));
}

}  // namespace protocom
