#pragma once
#include <string>
#include <vector>

#include "fewshot/detail/method_definition.h"
#include "fewshot/heads/detail/linear_fit.h"

namespace protocom {

/// What tells apart the methods that fit a linear classifier on the supports of each episode.
struct LinearHead {
  /// What is minimised, of points [b, s, d], labels [b, s, n] and the weight of the loss.
  LinearProblem (*problem)(const at::Tensor& points, const at::Tensor& labels, double c);
  std::vector<std::string> tries_of_c;  ///< see Parameters::tries
};

/// The definition of such a method, with the parameters `c`, `transform` and `steps`.
MethodDefinition define_linear_head(MethodSpec spec, const LinearHead& head);

}  // namespace protocom
