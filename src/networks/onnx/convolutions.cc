#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/util/Optional.h>
#include <fmt/ranges.h>

#include <functional>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "networks/onnx/detail/convolution.h"

/// Convolutions on plain maps.
namespace protocom::onnx {
namespace {

/// A convolution without the operations after it.
using Filter = std::function<at::Tensor(const at::Tensor&)>;

/// Finds an operator that LibTorch registers without a C++ declaration.
c10::optional<c10::OperatorHandle> registered(const char* name) {
  return c10::Dispatcher::singleton().findSchema({name, ""});
}

c10::optional<at::Tensor> bias_of(const Convolution& convolution) {
  return convolution.bias.defined() ? c10::optional<at::Tensor>(convolution.bias) : c10::nullopt;
}

/// Returns the padding that ATen does itself; asymmetric padding is applied before.
Sizes own_padding(const Window& window) { return window.is_even() ? window.begin : Sizes{0, 0}; }

/// Calls conv2d_prepack(weight, bias, stride, padding, dilation, groups, input_size, attr) -> context.
c10::IValue packed_weights(const c10::OperatorHandle& pack, const Convolution& convolution, const char* after) {
  const Window& window = convolution.window;
  const auto bias = bias_of(convolution);
  torch::jit::Stack stack = {convolution.weight, bias ? c10::IValue(*bias) : c10::IValue(),
                             window.strides,     own_padding(window),
                             window.dilations,   convolution.groups,
                             convolution.input,  after};
  pack.callBoxed(&stack);
  return stack.at(0);
}

/// Returns the images with the strides implied by their sizes. A part of one image's channels counts as contiguous with
/// the strides of all channels, by which oneDNN would read other memory.
at::Tensor dense(const at::Tensor& images) {
  const at::IntArrayRef sizes = images.sizes();
  const bool is_dense = images.strides() == at::IntArrayRef(c10::TensorType::contiguousStridesOf(sizes)) ||
                        images.strides() == at::IntArrayRef(at::get_channels_last_strides_2d(sizes));
  return is_dense ? images : images.clone(images.suggest_memory_format());
}

/// Returns a convolution on the processor in float32 with weights in oneDNN's own order from the start; at::conv2d
/// reorders them at each call. Nothing if LibTorch was built without oneDNN or the operator differs.
std::optional<Filter> packed_filter(const Convolution& convolution, const char* after) {
  const auto pack = registered("mkldnn_prepacked::conv2d_prepack");
  const auto run = registered("mkldnn_prepacked::conv2d_run");
  if (!pack || !run) return std::nullopt;
  try {
    const c10::IValue packed = packed_weights(*pack, convolution, after);
    return [packed, run = *run](const at::Tensor& images) {
      torch::jit::Stack stack = {dense(images), packed};
      run.callBoxed(&stack);
      return stack.at(0).toTensor();
    };
  } catch (const std::exception& error) {
    logger().debug("a convolution's weights cannot be packed: {}", reason_of(error));
    return std::nullopt;
  }
}

at::Tensor activated(at::Tensor maps, const Activation& activation) {
  if (activation.op == "Relu") return maps.relu_();
  if (activation.op == "Clip") return maps.clamp_(activation.least, activation.most);
  if (activation.op == "HardSwish") return at::hardswish_(maps);
  if (activation.op == kSilu) return at::silu_(maps);
  return maps;
}

/// Applies ATen's convolution. In float64 it copies the windows of all images, so it gets one image at a time.
at::Tensor plainly_filtered(const at::Tensor& images, const Convolution& what) {
  const auto filter = [&](const at::Tensor& some) {
    return at::conv2d(some, what.weight, bias_of(what), what.window.strides, own_padding(what.window),
                      what.window.dilations, what.groups);
  };
  if (images.scalar_type() != at::kDouble || images.size(0) < 2) return filter(images);
  Tensors each;
  for (int64_t i = 0; i < images.size(0); ++i) each.push_back(filter(images.narrow(0, i, 1)));
  return at::cat(each);
}

/// Returns the filter, including the following operations that it supports, which are removed from `after`.
Filter filter_of(const Binding& binding, const Convolution& convolution, Activation& after) {
  const bool own_relu = after.op == "Relu" && !binding.has(3);
  if (binding.is_frozen()) {
    if (auto packed = packed_filter(convolution, own_relu ? "relu" : "none")) {
      if (own_relu) after = {};
      return *packed;
    }
  }
  return [convolution](const at::Tensor& images) { return plainly_filtered(images, convolution); };
}

}  // namespace

bool is_convolution(const Node& node) { return node.domain.empty() && (node.op == "Conv" || node.op == kConv); }

Sizes Convolution::output() const {
  Sizes sizes = {1, weight.size(0)};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = window.dilations[i] * (window.kernel[i] - 1) + 1;
    sizes.push_back((input[2 + i] + window.begin[i] + window.end[i] - reach) / window.strides[i] + 1);
  }
  return sizes;
}

Convolution convolution_of(const Binding& binding) {
  Convolution made;
  made.weight = binding.weight(1).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor& weight = made.weight;
  if (weight.dim() != 4 || weight.numel() == 0)
    fail("the weights are [{}], expected four axes, none of size 0", fmt::join(weight.sizes(), ", "));
  made.window = window_of(binding, {weight.size(2), weight.size(3)});
  made.groups = binding.whole("group", 1);
  made.input = binding.sizes(0);
  const int64_t channels = made.input[1];
  if (made.groups < 1 || made.groups > channels || channels != weight.size(1) * made.groups ||
      weight.size(0) % made.groups != 0)
    fail("{} channels in {} groups do not match the weights [{}]", channels, made.groups,
         fmt::join(weight.sizes(), ", "));
  check_maps(made.window, made.input, weight.size(0));
  if (weight.scalar_type() != at::kFloat) {
    const Sizes places = made.output();  // its windows are copied, see plainly_filtered
    check_elements({weight.size(1), weight.size(2), weight.size(3), places[2], places[3]});
  }
  if (binding.has(2)) made.bias = binding.weight(2);
  made.activation = {binding.text("activation", ""), binding.number("least", 0), binding.number("most", 0)};
  return made;
}

Operation make_conv(const Binding& binding) {
  const Convolution convolution = convolution_of(binding);
  if (binding.has(3)) static_cast<void>(broadcast(convolution.output(), binding.sizes(3)));
  Activation after = convolution.activation;
  const Filter filter = filter_of(binding, convolution, after);
  const Window& window = convolution.window;
  const Sizes pads = window.is_even() ? Sizes{} : window.pads();
  return one_output([=](Tensors& in) {
    at::Tensor maps = filter(pads.empty() ? in.at(0) : at::constant_pad_nd(in.at(0), pads, 0));
    if (in.size() > 3) maps = maps.sizes() == in[3].sizes() ? maps.add_(in[3]) : maps + in[3];
    return activated(std::move(maps), after);
  });
}

}  // namespace protocom::onnx
