#include "networks/detail/resnet12.h"

#include <string>

namespace protocom {
namespace {

constexpr double kSlope = 0.1;

torch::nn::Conv2d convolution(int64_t in, int64_t out, int64_t kernel) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, kernel).padding(kernel / 2).bias(false));
}

at::Tensor activate(at::Tensor input) { return at::leaky_relu_(input, kSlope); }

}  // namespace

ResidualBlockImpl::ResidualBlockImpl(int64_t in_channels, int64_t out_channels, Last last)
    : last_(last),
      conv1_(convolution(in_channels, out_channels, 3)),
      conv2_(convolution(out_channels, out_channels, 3)),
      conv3_(convolution(out_channels, out_channels, 3)),
      bn1_(out_channels),
      bn2_(out_channels),
      bn3_(out_channels),
      shortcut_conv_(convolution(in_channels, out_channels, 1)),
      shortcut_bn_(out_channels) {
  // The names and their order are those of the Python checkpoints.
  register_module("conv1", conv1_);
  register_module("conv2", conv2_);
  register_module("conv3", conv3_);
  register_module("bn1", bn1_);
  register_module("bn2", bn2_);
  register_module("bn3", bn3_);
  register_module("downsample", torch::nn::Sequential(shortcut_conv_, shortcut_bn_));
}

at::Tensor ResidualBlockImpl::forward(const at::Tensor& input) {
  at::Tensor output = activate(conv_bn(conv1_, bn1_, input));
  output = activate(conv_bn(conv2_, bn2_, output));
  output = conv_bn(conv3_, bn3_, output);
  output.add_(conv_bn(shortcut_conv_, shortcut_bn_, input));
  if (last_ == Last::kNo) output = activate(output);
  return at::max_pool2d(output, 2);  // [n, out, h/2, w/2]
}

ResNet12::ResNet12(const std::array<int64_t, 4>& channels) : dim_(channels.back()) {
  int64_t in_channels = 3;
  for (size_t i = 0; i < channels.size(); ++i) {
    const auto last = i + 1 == channels.size() ? ResidualBlockImpl::Last::kYes : ResidualBlockImpl::Last::kNo;
    blocks_.push_back(register_module("layer" + std::to_string(i + 1), ResidualBlock(in_channels, channels[i], last)));
    in_channels = channels[i];
  }
  initialise(*this);
}

at::Tensor ResNet12::forward_maps(const at::Tensor& images) {
  at::Tensor output = images;
  for (auto& block : blocks_) output = block(output);
  return output;
}

}  // namespace protocom
