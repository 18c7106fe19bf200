#include "networks/huggingface/detail/convolutions.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.h"

namespace protocom::huggingface {
namespace {

/// Returns the padding left, right, above, below for an output of the input's size over the stride, rounded up.
std::vector<int64_t> as_tensorflow_pads(const at::Tensor& x, int64_t kernel, int64_t stride) {
  std::vector<int64_t> pads;
  for (const int64_t axis : {3, 2}) {
    const int64_t size = x.size(axis);
    const int64_t left_over = size % stride == 0 ? stride : size % stride;
    const int64_t all = std::max<int64_t>(kernel - left_over, 0);
    pads.push_back(all / 2);
    pads.push_back(all - all / 2);
  }
  return pads;
}

/// Folds the following batch norm into `weight` [out, in / groups, k, k].
Convolution with_norm(Weights& weights, const at::Tensor& weight, const std::string& normalization, double epsilon) {
  const int64_t out = weight.size(0);
  const at::Tensor variance = weights.take(normalization + ".running_var", {out});
  const at::Tensor scale = weights.take(normalization + ".weight", {out}) * (variance + epsilon).rsqrt();
  const at::Tensor mean = weights.take(normalization + ".running_mean", {out});
  Convolution folded;
  folded.weight = (weight * scale.reshape({-1, 1, 1, 1})).contiguous(at::MemoryFormat::ChannelsLast);
  folded.bias = weights.take(normalization + ".bias", {out}) - mean * scale;
  return folded;
}

at::Tensor activated(const ConvolutionStep& step, const at::Tensor& x) {
  at::Tensor y = step.convolution(x);
  if (step.activation != nullptr) y = step.activation(y);
  if (step.excite) y = (*step.excite)(y);
  return step.averaged ? at::avg_pool2d(y, 2) : y;
}

Convolution pixel(Weights& weights, const std::string& name, int64_t in, int64_t out) {
  Convolution made;
  made.weight = weights.take(name + ".weight", {out, in, 1, 1});
  made.bias = weights.take(name + ".bias", {made.weight.size(0)});
  return made;
}

}  // namespace

at::Tensor Convolution::operator()(const at::Tensor& x) const {
  const int64_t kernel = weight.size(2);
  if (pads == Pads::kEven || kernel == 1) return at::conv2d(x, weight, bias, stride, kernel / 2, 1, groups);
  const int64_t half = kernel / 2;
  const at::Tensor padded =
      at::constant_pad_nd(x,
                          pads == Pads::kLater ? std::vector<int64_t>{half - 1, half, half - 1, half}
                                               : as_tensorflow_pads(x, kernel, stride),
                          0);
  return at::conv2d(padded, weight, bias, stride, at::IntArrayRef({0, 0}), 1, groups);
}

Convolution folded(Weights& weights, const std::string& convolution, const std::string& normalization,
                   const ConvolutionSizes& sizes, double epsilon) {
  const at::Tensor weight = weights.take(convolution + ".weight", {sizes.out, sizes.in, sizes.kernel, sizes.kernel});
  Convolution made = with_norm(weights, weight, normalization, epsilon);
  made.stride = sizes.stride;
  made.groups = sizes.groups;
  return made;
}

Convolution folded(Weights& weights, const std::string& convolution, const std::string& normalization, int64_t in,
                   int64_t stride, double epsilon) {
  const at::Tensor weight = weights.take(convolution + ".weight", {-1, -1, -1, -1});
  const int64_t groups = in / weight.size(1);
  if (groups * weight.size(1) != in || weight.size(0) % std::max<int64_t>(groups, 1) != 0 ||
      weight.size(2) != weight.size(3) || weight.size(2) % 2 == 0)
    fail("tensor '{}.weight' does not fit maps of {} channels in a network of the family {}: export it to ONNX",
         convolution, in, weights.family());
  Convolution made = with_norm(weights, weight, normalization, epsilon);
  made.stride = stride;
  made.groups = groups;
  return made;
}

at::Tensor SqueezeExcite::operator()(const at::Tensor& x) const {
  const at::Tensor means = x.mean({2, 3}, /*keepdim=*/true);
  if (!across.defined()) return x * gate(expand(inner(reduce(means))));
  const at::Tensor column = means.reshape({x.size(0), 1, x.size(1), 1});
  const at::Tensor weights = at::conv2d(column, across.unsqueeze(-1), {}, 1, at::IntArrayRef({across.size(2) / 2, 0}));
  return x * gate(weights).reshape(means.sizes());
}

SqueezeExcite squeeze_excite(Weights& weights, const std::string& reduce, const std::string& expand, int64_t width) {
  SqueezeExcite made;
  made.reduce = pixel(weights, reduce, width, -1);
  made.expand = pixel(weights, expand, made.reduce.out(), width);
  made.inner = activation_of("relu");
  made.gate = activation_of("sigmoid");
  return made;
}

at::Tensor ConvolutionBlock::operator()(const at::Tensor& x) const {
  at::Tensor y = x;
  for (const ConvolutionStep& step : steps) y = activated(step, y);
  if (scale.defined()) y = y * scale;
  if (added) {
    const at::Tensor from = averaged ? at::avg_pool2d(x, 2, 2, 0, /*ceil_mode=*/true, /*count_include_pad=*/false) : x;
    y = y + (shortcut ? (*shortcut)(from) : from);
  }
  if (after != nullptr) y = after(y);
  return max_pooled ? at::max_pool2d(y, 3, 2, 1) : y;
}

at::Tensor ConvolutionNetwork::maps(const at::Tensor& images) const {
  at::Tensor x = images;
  for (const ConvolutionBlock& block : blocks_) x = block(x);
  return x;
}

at::Tensor ConvolutionNetwork::features(const at::Tensor& images) const {
  const at::Tensor mean = maps(images).mean({2, 3}, /*keepdim=*/true);
  return (head_ ? activated(*head_, mean) : mean).flatten(1);
}

}  // namespace protocom::huggingface
