#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "fewshot/method_parameters.h"
#include "protocom/fewshot/method.h"

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

/// A method that needs no more than its scorer `S`, which is constructed from the options and the context.
template <typename S, typename Options>
class ScorerMethod : public Method {
 public:
  explicit ScorerMethod(Options options) : options_(std::move(options)) {}
  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    return std::make_unique<S>(options_, context);
  }

 private:
  Options options_;
};

/// Its definition.
template <typename S, typename Options>
MethodDefinition define_scorer(MethodSpec spec, Parameters<Options> parameters) {
  return define<ScorerMethod<S, Options>>(std::move(spec), std::move(parameters));
}

}  // namespace protocom
