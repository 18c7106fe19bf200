#pragma once
#include "fewshot/method.h"
#include "fewshot/paper/gauss_fusion_options.h"

namespace protocom {

/// The parameters of the paper's rows; row (iv) has those of GaussFusion besides.
struct PaperRowOptions : GaussFusionOptions {
  double gamma = 0;  ///< of equation 8; 0: the completion model's
};

/// Those of a method that is one of the paper's four rows, of which MethodSpec::paper_row says which one; null: it is
/// none.
const PaperRowOptions* paper_row_options(const Method& method);

}  // namespace protocom
