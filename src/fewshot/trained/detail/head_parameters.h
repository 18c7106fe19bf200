#pragma once
#include <string>
#include <vector>

#include "fewshot/method_parameters.h"

namespace protocom {

/// Returns the spaces that a head may learn in.
inline std::vector<std::string> unit_spaces() { return {"l2n", "cl2n"}; }
inline constexpr const char* kUnitSpacesText = "l2n: unit length; cl2n: less the base images’ mean, then unit length";

/// Returns the kinds of a class's knowledge that a head may read.
inline std::vector<std::string> semantics_kinds() { return {"words", "attributes", "both"}; }
inline constexpr const char* kSemanticsText = "words: embedding of the class; attributes: its row of attributes; both";

/// Adds the number of steps that a head is trained for to the parameters of a method.
template <typename Options>
Parameters<Options> with_head_steps(Parameters<Options> parameters) {
  return parameters.for_fitting()
      .whole("steps", &Options::steps, {1}, "of Adam, at most: the best on held-out classes counts")
      .real("learning_rate", &Options::learning_rate, {1e-8, 1}, "of Adam");
}

}  // namespace protocom
