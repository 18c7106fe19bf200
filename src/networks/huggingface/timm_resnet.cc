#include <algorithm>

#include "base/error.h"
#include "networks/huggingface/detail/convolutions.h"
#include "networks/huggingface/detail/network.h"

/// timm's relatives of ResNet: groups (ResNeXt), wider blocks, squeeze-and-excitation or ECA-Net's, stems of three
/// convolutions, and shortcuts that average before their convolution ("d").
namespace protocom::huggingface {
namespace {

constexpr double kTimmResNetEpsilon = 1e-5;

class TimmResNetReader {
 public:
  explicit TimmResNetReader(Weights& weights) : weights_(weights) {}

  std::vector<ConvolutionBlock> read() {
    std::vector<ConvolutionBlock> blocks(1);
    if (weights_.has("conv1.weight")) {
      blocks[0].steps = {step("conv1", "bn1", 2, relu_)};
    } else {
      blocks[0].steps = {step("conv1.0", "conv1.1", 2, relu_), step("conv1.3", "conv1.4", 1, relu_)};
      blocks[0].steps.push_back(step("conv1.6", "bn1", 1, relu_));
    }
    blocks[0].max_pooled = true;
    for (int64_t stage = 1; stage <= 4; ++stage) {
      const std::string at = "layer" + std::to_string(stage) + ".";
      const int64_t count = weights_.count(at, ".conv1.weight");
      for (int64_t i = 0; i < count; ++i) blocks.push_back(block(at + std::to_string(i), stage > 1 && i == 0 ? 2 : 1));
    }
    return blocks;
  }

 private:
  [[nodiscard]] ConvolutionStep step(const std::string& convolution, const std::string& norm, int64_t stride,
                                     Activation activation) {
    ConvolutionStep made{folded(weights_, convolution, norm, width_, stride, kTimmResNetEpsilon), activation};
    width_ = made.convolution.out();
    return made;
  }
  /// Reads the shortcut, whose stride is its convolution's, or that of an average pool before it.
  void shorten(const std::string& at, int64_t stride, ConvolutionBlock& block) {
    const std::string name = at + ".downsample";
    if (weights_.has(name + ".0.weight"))
      block.shortcut = folded(weights_, name + ".0", name + ".1", width_, stride, kTimmResNetEpsilon);
    if (!weights_.has(name + ".2.weight")) return;
    block.shortcut = folded(weights_, name + ".1", name + ".2", width_, 1, kTimmResNetEpsilon);
    block.averaged = stride == 2;
  }
  [[nodiscard]] ConvolutionBlock block(const std::string& at, int64_t stride) {
    ConvolutionBlock made;
    shorten(at, stride, made);
    const bool bottleneck = weights_.has(at + ".conv3.weight");
    made.steps = {step(at + ".conv1", at + ".bn1", bottleneck ? 1 : stride, relu_),
                  step(at + ".conv2", at + ".bn2", bottleneck ? stride : 1, bottleneck ? relu_ : kNoActivation)};
    if (bottleneck) made.steps.push_back(step(at + ".conv3", at + ".bn3", 1, kNoActivation));
    if (weights_.has(at + ".se.fc1.weight"))
      made.steps.back().excite = squeeze_excite(weights_, at + ".se.fc1", at + ".se.fc2", width_);
    if (weights_.has(at + ".se.conv.weight")) made.steps.back().excite = across_channels(at + ".se.conv.weight");
    made.added = true;
    made.after = relu_;
    return made;
  }

  SqueezeExcite across_channels(const std::string& name) {
    SqueezeExcite made;
    made.across = weights_.take(name, {1, 1, -1});
    made.gate = activation_of("sigmoid");
    if (made.across.size(2) % 2 == 0)
      fail("tensor '{}' has {} values, expected an odd number", name, made.across.size(2));
    return made;
  }

  Weights& weights_;
  Activation relu_ = activation_of("relu");
  int64_t width_ = 3;
};

}  // namespace

std::unique_ptr<Network> make_timm_resnet(const nlohmann::json& /*config*/, const Tensors& tensors) {
  Weights weights(tensors, "ResNet", "layer1.0.conv1.weight");
  auto blocks = TimmResNetReader(weights).read();
  weights.check_all_taken({"fc."});
  return std::make_unique<ConvolutionNetwork>(std::move(blocks));
}

}  // namespace protocom::huggingface
