#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "fewshot/detail/method_parameters.h"
#include "fewshot/method.h"

namespace protocom {

/// What a file of methods/ gives: `simple_shot.cc` defines `MethodDefinition simple_shot()` in
/// protocom::methods, and the build's list finds it by the file's name.
struct MethodDefinition {
  MethodSpec spec;
  std::function<std::unique_ptr<Method>(const ParameterTexts&)> make;
  ParameterTries tries;
};

/// A method of the class `M`, which is constructed from its options and what else is given.
template <typename M, typename Options, typename... More>
MethodDefinition define(MethodSpec spec, Parameters<Options> parameters, More... more) {
  spec.parameters = parameters.specs();
  const std::string name = spec.name;
  const ParameterTries tries = parameters.tries();
  return {std::move(spec),
          [name, parameters = std::move(parameters), more...](const ParameterTexts& texts) {
            return std::make_unique<M>(parameters.parse(name, texts), more...);
          },
          tries};
}

/// What a scorer says of a batch whose features have been through its map (Scorer::answer). Thread-safe.
using Answer = std::function<EpisodeScores(const EpisodeBatch& batch)>;

/// A scorer that is no more than that. `map` null: the method takes features as they are; `fewest_shots`: labelled
/// images that a class must have.
std::unique_ptr<Scorer> scorer_of(Answer answer, std::shared_ptr<const FeatureTransform> map = nullptr,
                                  int64_t fewest_shots = 1);

/// A method that needs no more than its scorer, which `make` makes of the options and the context.
template <typename Options>
class ScorerMethod : public Method {
 public:
  using Make = std::function<std::unique_ptr<Scorer>(const Options& options, const MethodContext& context)>;
  ScorerMethod(Options options, Make make) : options_(std::move(options)), make_(std::move(make)) {}
  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    return make_(options_, context);
  }

 private:
  Options options_;
  Make make_;
};

/// Its definition.
template <typename Options>
MethodDefinition define_scorer(MethodSpec spec, typename ScorerMethod<Options>::Make make,
                               Parameters<Options> parameters) {
  return define<ScorerMethod<Options>>(std::move(spec), std::move(parameters), std::move(make));
}

/// The definition of a method that is a function of a batch and its options.
template <typename Options>
MethodDefinition define_answer(MethodSpec spec, EpisodeScores (*answer)(const EpisodeBatch&, const Options&),
                               Parameters<Options> parameters) {
  const auto make = [answer](const Options& options, const MethodContext&) {
    return scorer_of([answer, options](const EpisodeBatch& batch) { return answer(batch, options); });
  };
  return define_scorer(std::move(spec), make, std::move(parameters));
}

}  // namespace protocom
