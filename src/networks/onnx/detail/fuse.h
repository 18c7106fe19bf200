#pragma once
#include <string>

#include "networks/onnx/detail/model.h"

namespace protocom::onnx {

/// Keeps what `output` depends on, puts constants in their places, and one operator in the place of the several that
/// exporters write for it: batch norm goes into the convolution before it, and so do a sum and an activation whose
/// input no other operator takes; layer norm, GELU, SiLU, hard swish and a linear layer become themselves again.
/// Features differ by rounding.
void simplify(Model& model, const std::string& output);

}  // namespace protocom::onnx
