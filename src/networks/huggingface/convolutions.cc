#include "networks/huggingface/detail/convolutions.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace protocom::huggingface {
namespace {

/// Left, right, above, below: as many places as the input has over the stride, rounded up.
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

}  // namespace

at::Tensor Convolution::operator()(const at::Tensor& x) const {
  const int64_t kernel = weight.size(2);
  if (!padded_at_end || kernel == 1) return at::conv2d(x, weight, bias, stride, kernel / 2, 1, groups);
  const at::Tensor padded = at::constant_pad_nd(x, as_tensorflow_pads(x, kernel, stride), 0);
  return at::conv2d(padded, weight, bias, stride, at::IntArrayRef({0, 0}), 1, groups);
}

Convolution folded(Weights& weights, const std::string& convolution, const std::string& normalization,
                   const ConvolutionSizes& sizes, double epsilon) {
  const int64_t out = sizes.out;
  const at::Tensor weight = weights.take(convolution + ".weight", {out, sizes.in, sizes.kernel, sizes.kernel});
  const at::Tensor variance = weights.take(normalization + ".running_var", {out});
  const at::Tensor scale = weights.take(normalization + ".weight", {out}) * (variance + epsilon).rsqrt();
  const at::Tensor mean = weights.take(normalization + ".running_mean", {out});
  Convolution folded;
  folded.weight = (weight * scale.reshape({-1, 1, 1, 1})).contiguous(at::MemoryFormat::ChannelsLast);
  folded.bias = weights.take(normalization + ".bias", {out}) - mean * scale;
  folded.stride = sizes.stride;
  folded.groups = sizes.groups;
  return folded;
}

}  // namespace protocom::huggingface
