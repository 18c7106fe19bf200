#pragma once
#include <string>
#include <vector>

#include "fewshot/method_definition.h"
#include "fewshot/toolbox/linear_fit.h"

namespace protocom {

/// Differences between the methods that fit a linear classifier on the supports of each task.
struct LinearHead {
  /// Makes the objective from points [s, d], labels [s, n] and the weight of the loss.
  LinearProblem (*problem)(FloatMatrix points, FloatMatrix labels, double c);
  std::vector<std::string> tries_of_c;  ///< see Parameters::tries
};

/// Defines such a method, with the parameters `c`, `transform` and `steps`.
MethodDefinition define_linear_head(MethodSpec spec, const LinearHead& head);

}  // namespace protocom
