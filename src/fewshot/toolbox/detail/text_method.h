#pragma once
#include "fewshot/detail/method_definition.h"
#include "fewshot/toolbox/detail/class_text.h"

namespace protocom {

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
