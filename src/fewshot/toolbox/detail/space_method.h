#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fewshot/detail/method_definition.h"
#include "fewshot/toolbox/detail/feature_space.h"

namespace protocom {

/// A method that is a function of an episode and its options, of which `transform` is a FeatureSpace: the features that
/// the function gets have been through it, each by itself.
template <typename Options>
class SpaceMethod : public Method {
 public:
  using AnswerInSpace = std::function<EpisodeScores(const EpisodeBatch& batch, const Options& options)>;

  SpaceMethod(Options options, AnswerInSpace answer) : options_(std::move(options)), answer_(std::move(answer)) {}

  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    std::shared_ptr<const FeatureTransform> space;  // null: features as they are
    if (options_.transform != "none") space = std::make_shared<FeatureSpace>(options_.transform, context);
    return scorer_of(
        [options = options_, answer = answer_](const EpisodeBatch& batch) { return answer(batch, options); }, space);
  }

 private:
  Options options_;
  AnswerInSpace answer_;
};

/// Its definition, with `transform` as the last parameter, of which `tries` are worth trying.
template <typename Options>
MethodDefinition define_in_space(MethodSpec spec, typename SpaceMethod<Options>::AnswerInSpace answer,
                                 Parameters<Options> parameters, const std::vector<std::string>& tries) {
  parameters.choice("transform", &Options::transform, FeatureSpace::names(), FeatureSpace::kText).tries(tries);
  return define<SpaceMethod<Options>>(std::move(spec), std::move(parameters), std::move(answer));
}

}  // namespace protocom
