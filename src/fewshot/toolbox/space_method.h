#pragma once
#include <memory>
#include <string>
#include <utility>

#include "fewshot/method_definition.h"
#include "fewshot/toolbox/feature_space.h"

namespace protocom {

/// A method that is a function of an episode and its options, of which `transform` is a FeatureSpace: the features that
/// the function gets have been through it, each by itself.
template <typename Options>
class SpaceMethod : public Method {
 public:
  using Answer = EpisodeScores (*)(const EpisodeBatch& batch, const Options& options);

  SpaceMethod(Options options, Answer answer) : options_(std::move(options)), answer_(answer) {}
  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    return std::make_unique<Answering>(*this, context);
  }

 private:
  class Answering : public SpaceScorer {
   public:
    Answering(const SpaceMethod& method, const MethodContext& context)
        : SpaceScorer(method.options_.transform, context), options_(method.options_), answer_(method.answer_) {}

   private:
    [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override { return answer_(batch, options_); }

    Options options_;
    Answer answer_;
  };

  Options options_;
  Answer answer_;
};

/// Its definition.
template <typename Options>
MethodDefinition define_in_space(MethodSpec spec, typename SpaceMethod<Options>::Answer answer,
                                 Parameters<Options> parameters) {
  return define<SpaceMethod<Options>>(std::move(spec), std::move(parameters), answer);
}

}  // namespace protocom
