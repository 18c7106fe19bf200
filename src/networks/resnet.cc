#include "networks/detail/resnet.h"

#include <string>

namespace protocom {
namespace {

constexpr int64_t kStem = 64;             ///< channels after the first convolution, and inside the first layer
constexpr int64_t kBottleneckFactor = 4;  ///< channels of a bottleneck's output over those inside

torch::nn::Conv2d convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

/// Sizes of one block.
struct BlockSizes {
  int64_t in;
  int64_t inside;
  int64_t out;
  int64_t stride;
};

/// Convolutions with batch norms and activations between, and the input, projected if the sizes differ, added before
/// the last activation.
class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(ResNet::Block block, const BlockSizes& sizes) {
    if (block == ResNet::Block::kBasic) {
      add(convolution(sizes.in, sizes.inside, 3, sizes.stride), sizes.inside);
      add(convolution(sizes.inside, sizes.out, 3, 1), sizes.out);
    } else {
      add(convolution(sizes.in, sizes.inside, 1, 1), sizes.inside);
      add(convolution(sizes.inside, sizes.inside, 3, sizes.stride), sizes.inside);
      add(convolution(sizes.inside, sizes.out, 1, 1), sizes.out);
    }
    if (sizes.in == sizes.out && sizes.stride == 1) return;
    shortcut_conv_ = convolution(sizes.in, sizes.out, 1, sizes.stride);
    shortcut_bn_ = torch::nn::BatchNorm2d(sizes.out);
    register_module("downsample", torch::nn::Sequential(shortcut_conv_, shortcut_bn_));
  }

  at::Tensor forward(const at::Tensor& input) {
    at::Tensor output = input;
    for (size_t i = 0; i < convs_.size(); ++i) {
      if (i > 0) output.relu_();
      output = conv_bn(convs_[i], bns_[i], output);
    }
    const bool projected = !shortcut_conv_.is_empty();
    return output.add_(projected ? conv_bn(shortcut_conv_, shortcut_bn_, input) : input).relu_();
  }

 private:
  void add(torch::nn::Conv2d conv, int64_t channels) {
    const std::string number = std::to_string(convs_.size() + 1);
    convs_.push_back(register_module("conv" + number, std::move(conv)));
    bns_.push_back(register_module("bn" + number, torch::nn::BatchNorm2d(channels)));
  }

  std::vector<torch::nn::Conv2d> convs_;
  std::vector<torch::nn::BatchNorm2d> bns_;
  torch::nn::Conv2d shortcut_conv_{nullptr};
  torch::nn::BatchNorm2d shortcut_bn_{nullptr};
};
TORCH_MODULE(Block);

}  // namespace

ResNet::ResNet(Block block, const std::array<int64_t, 4>& blocks)
    : conv1_(torch::nn::Conv2dOptions(3, kStem, 7).stride(2).padding(3).bias(false)), bn1_(kStem) {
  register_module("conv1", conv1_);
  register_module("bn1", bn1_);
  const int64_t factor = block == Block::kBottleneck ? kBottleneckFactor : 1;
  int64_t in = kStem;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int64_t inside = kStem << i;
    torch::nn::Sequential layer;
    for (int64_t b = 0; b < blocks[i]; ++b) {
      layer->push_back(protocom::Block(block, BlockSizes{in, inside, inside * factor, b == 0 && i > 0 ? 2 : 1}));
      in = inside * factor;
    }
    layers_.push_back(register_module("layer" + std::to_string(i + 1), layer));
  }
  dim_ = in;
  initialise(*this);
}

at::Tensor ResNet::forward_maps(const at::Tensor& images) {
  at::Tensor output = conv_bn(conv1_, bn1_, images).relu_();
  output = at::max_pool2d(output, 3, 2, 1);
  for (auto& layer : layers_) output = layer->forward(output);
  return output;  // [n, dim, h/32, w/32]
}

}  // namespace protocom
