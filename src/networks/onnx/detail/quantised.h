#pragma once
#include "networks/onnx/detail/model.h"

namespace protocom::onnx {

/// Puts in the place of MatMulInteger, ConvInteger, QLinearMatMul and QLinearConv what they consist of: their values
/// less the zero points as float32, the product or convolution of those, and its scale. Sums of whole numbers are exact
/// in float32 up to 2^24. Throws Error that names a node without its inputs.
void write_out_quantised(Model& model);

/// Whether a value depends on all images of a batch, by whose range it is quantised.
bool quantises_by_range(const Model& model);

}  // namespace protocom::onnx
