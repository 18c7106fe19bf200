#include "nn/onnx/packed_convolution.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include "protocom/core/error.h"
#include "protocom/core/log.h"

namespace protocom::onnx {
namespace {

/// An operator that LibTorch registers without a C++ declaration.
c10::optional<c10::OperatorHandle> registered(const char* name) {
  return c10::Dispatcher::singleton().findSchema({name, ""});
}

/// conv2d_prepack(weight, bias, stride, padding, dilation, groups, input_size, attr) -> context
c10::IValue packed_weights(const c10::OperatorHandle& pack, const at::Tensor& weight,
                           const c10::optional<at::Tensor>& bias, const ConvolutionShape& shape) {
  torch::jit::Stack stack = {weight,          bias ? c10::IValue(*bias) : c10::IValue(),
                             shape.strides,   shape.padding,
                             shape.dilations, shape.groups,
                             shape.input,     shape.relu ? "relu" : "none"};
  pack.callBoxed(&stack);
  return stack.at(0);
}

}  // namespace

std::optional<std::function<at::Tensor(const at::Tensor&)>> packed_convolution(const at::Tensor& weight,
                                                                               const c10::optional<at::Tensor>& bias,
                                                                               const ConvolutionShape& shape) {
  const auto pack = registered("mkldnn_prepacked::conv2d_prepack");
  const auto run = registered("mkldnn_prepacked::conv2d_run");
  if (!pack || !run) return std::nullopt;
  try {
    const c10::IValue packed = packed_weights(*pack, weight, bias, shape);
    return [packed, run = *run](const at::Tensor& images) {
      torch::jit::Stack stack = {images, packed};
      run.callBoxed(&stack);
      return stack.at(0).toTensor();
    };
  } catch (const std::exception& error) {
    logger().debug("a convolution's weights cannot be packed: {}", reason_of(error));
    return std::nullopt;
  }
}

}  // namespace protocom::onnx
