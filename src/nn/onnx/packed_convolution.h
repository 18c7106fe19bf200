#pragma once
#include <ATen/core/Tensor.h>
#include <c10/util/Optional.h>

#include <functional>
#include <optional>

#include "nn/onnx/operators.h"

namespace protocom::onnx {

/// What a convolution is, besides its weights.
struct ConvolutionShape {
  Sizes strides, padding, dilations;
  int64_t groups = 1;
  bool relu = false;  ///< of the result
  Sizes input;        ///< of one image, for which weights are put in order
};

/// A convolution on the processor in float32 whose weights lie in oneDNN's own order from the start; at::conv2d brings
/// them into it at each call. None where LibTorch was built without oneDNN or the operator is another.
std::optional<std::function<at::Tensor(const at::Tensor&)>> packed_convolution(const at::Tensor& weight,
                                                                               const c10::optional<at::Tensor>& bias,
                                                                               const ConvolutionShape& shape);

}  // namespace protocom::onnx
