#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fewshot/method.h"
#include "fewshot/method_parameters.h"

namespace protocom {

/// The definition of a method by a file of methods/ or trained/: `simple_shot.cc` defines `MethodDefinition
/// simple_shot()` in protocom::methods, and the build's list finds it by the file's name.
struct MethodDefinition {
  MethodSpec spec;
  std::function<std::unique_ptr<Method>(const ParameterTexts&)> make;
  ParameterTries tries;
};

/// Defines a method of the class `M`, which is constructed from its options and the further arguments.
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

}  // namespace protocom
