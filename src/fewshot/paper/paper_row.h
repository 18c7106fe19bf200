#pragma once
#include "fewshot/method.h"
#include "fewshot/paper/gauss_fusion_options.h"

namespace protocom {

/// The parameters of the paper's rows; row (iv) also has those of GaussFusion.
struct PaperRowOptions : GaussFusionOptions {
  double gamma = 0;  ///< gamma of equation 8; 0: the completion model's
};

/// Returns the parameters of a method that is one of the paper's four rows (which one: MethodSpec::paper_row); null for
/// other methods.
const PaperRowOptions* paper_row_options(const Method& method);

}  // namespace protocom
