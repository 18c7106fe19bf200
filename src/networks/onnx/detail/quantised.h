#pragma once
#include "networks/onnx/detail/model.h"

namespace protocom::onnx {

/// Replaces MatMulInteger, ConvInteger, QLinearMatMul and QLinearConv by their parts: their values minus the zero
/// points as float32, the product or convolution of those, and its scale. Sums of whole numbers are exact in float32 up
/// to 2^24. Throws Error that names a node without its inputs.
void write_out_quantised(Model& model);

/// Whether a value is quantised by the range over all images of a batch, and so depends on all of them.
bool quantises_by_range(const Model& model);

}  // namespace protocom::onnx
