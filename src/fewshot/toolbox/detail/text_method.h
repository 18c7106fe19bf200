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

}  // namespace protocom
