#pragma once
#include <string>

#include "networks/onnx/detail/model.h"

namespace protocom::onnx {

/// Keeps only the nodes that `output` depends on, inlines constants, and fuses patterns that exporters write for one
/// operator: batch norm goes into the convolution before it, and so do a sum and an activation whose input no other
/// operator uses; layer norm, GELU, SiLU, hard swish and a linear layer are restored. Features differ by rounding.
void simplify(Model& model, const std::string& output);

}  // namespace protocom::onnx
