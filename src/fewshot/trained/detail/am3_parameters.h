#pragma once
#include "fewshot/trained/am3.h"
#include "fewshot/trained/detail/head_parameters.h"

namespace protocom {

/// Adds the parameters that AM3 and its relatives share to those of a method whose options derive from Am3Options.
template <typename Options>
Parameters<Options> with_am3_parameters(Parameters<Options> parameters) {
  return with_head_steps(
      parameters.for_fitting()
          .choice("space", &Options::space, unit_spaces(), kUnitSpacesText)
          .whole("ways", &Options::ways, {2}, "classes of the tasks it is trained on")
          .tries({"5"})
          .whole("shots", &Options::shots, {1}, "labelled images per class of the tasks it is trained on")
          .whole("hidden", &Options::hidden, {1}, "units of the hidden layers")
          .real("dropout", &Options::dropout, {0, 0.99}, "share of the hidden units left out in a step of training")
          .tries({"0.3"}));
}

}  // namespace protocom
