#pragma once
#include <memory>
#include <string>
#include <utility>

#include "fewshot/method_definition.h"
#include "fewshot/torch_functions.h"

namespace protocom {

/// Defines a method that is trained by gradients. Its specification and parameters are here; the plug-in has a class
/// for its name, which is constructed from the same `Options` (heads/detail/trained_makers.h).
template <typename Options>
MethodDefinition define_trained(MethodSpec spec, Parameters<Options> parameters) {
  spec.trained_by_torch = true;
  spec.parameters = parameters.specs();
  const ParameterTries tries = parameters.tries();
  const auto make = [name = spec.name, parameters = std::move(parameters)](const ParameterTexts& texts) {
    const Options options = parameters.parse(name, texts);
    return torch_make_trained(name, &options);
  };
  return {std::move(spec), make, tries};
}

}  // namespace protocom
