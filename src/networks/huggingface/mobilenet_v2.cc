#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "networks/huggingface/detail/convolutions.h"
#include "networks/huggingface/detail/network.h"

/// MobileNet v2 (Sandler et al. 2018) as converted from TensorFlow.
namespace protocom::huggingface {
namespace {

struct MobileBlock {
  std::vector<Convolution> convolutions;  ///< the last without activation
  bool added = false;
};

class MobileNetV2 : public Network {
 public:
  MobileNetV2(std::vector<MobileBlock> blocks, Convolution last, Activation activation)
      : blocks_(std::move(blocks)), last_(std::move(last)), activation_(activation) {}

  [[nodiscard]] at::Tensor maps(const at::Tensor& images) const override {
    at::Tensor x = images;
    for (const MobileBlock& block : blocks_) {
      at::Tensor inside = x;
      for (size_t i = 0; i < block.convolutions.size(); ++i)
        inside = block.convolutions[i](i > 0 ? activation_(inside) : inside);
      x = block.added ? x + inside : inside;
    }
    return activation_(last_(x));
  }
  [[nodiscard]] at::Tensor features(const at::Tensor& images) const override { return maps(images).mean({2, 3}); }

 private:
  std::vector<MobileBlock> blocks_;
  Convolution last_;
  Activation activation_;
};

/// What all layers of a checkpoint share.
struct MobileStyle {
  double epsilon;
  bool as_tensorflow;
};

Convolution mobile_layer(Weights& weights, const std::string& name, const ConvolutionSizes& sizes,
                         const MobileStyle& style) {
  Convolution made = folded(weights, name + ".convolution", name + ".normalization", sizes, style.epsilon);
  made.padded_at_end = style.as_tensorflow;
  return made;
}

/// How many channels there are of a usual number.
struct MobileWidths {
  double multiplier;
  int64_t divisor, least;

  /// make_divisible of `transformers`.
  [[nodiscard]] int64_t divisible(double wanted) const {
    const auto whole = static_cast<int64_t>(std::lround(wanted));
    const int64_t near = std::max(least, (whole + divisor / 2) / divisor * divisor);
    return static_cast<double>(near) < 0.9 * static_cast<double>(whole) ? near + divisor : near;
  }
  [[nodiscard]] int64_t of(int64_t usual) const { return divisible(static_cast<double>(usual) * multiplier); }
};

}  // namespace

std::unique_ptr<Network> make_mobilenet_v2(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "MobileNetV2", "conv_stem.first_conv.convolution.weight");
  constexpr std::array<int64_t, 17> kWidths = {16, 24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320};
  constexpr std::array<int64_t, 16> kStrides = {2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1};
  const MobileStyle style{config_number(config, "layer_norm_eps", 1e-3), config_flag(config, "tf_padding", true)};
  const double multiplier = config_number(config, "depth_multiplier", 1);
  if (!(multiplier > 0 && multiplier <= 8)) fail("config.json: depth_multiplier {} is out of range", multiplier);
  if (config_integer(config, "output_stride", 32) != 32)
    fail("config.json: output_stride: expected 32 (segmentation is not supported)");
  const MobileWidths widths{multiplier, config_integer(config, "depth_divisible_by", 8),
                            config_integer(config, "min_depth", 8)};
  const double growth = config_number(config, "expand_ratio", 6);
  const auto width = [&](size_t i) { return widths.of(kWidths[i]); };
  const int64_t stem = widths.of(32);
  std::vector<MobileBlock> blocks(1);
  blocks[0].convolutions = {mobile_layer(weights, "conv_stem.first_conv", {3, stem, 3, 2}, style),
                            mobile_layer(weights, "conv_stem.conv_3x3", {1, stem, 3, 1, stem}, style),
                            mobile_layer(weights, "conv_stem.reduce_1x1", {stem, width(0), 1}, style)};
  for (size_t i = 0; i < kStrides.size(); ++i) {
    const int64_t in = width(i);
    const int64_t inside = widths.divisible(static_cast<double>(in) * growth);
    const int64_t out = width(i + 1);
    const std::string at = "layer." + std::to_string(i);
    MobileBlock block;
    block.convolutions = {mobile_layer(weights, at + ".expand_1x1", {in, inside, 1}, style),
                          mobile_layer(weights, at + ".conv_3x3", {1, inside, 3, kStrides[i], inside}, style),
                          mobile_layer(weights, at + ".reduce_1x1", {inside, out, 1}, style)};
    block.added = in == out && kStrides[i] == 1;
    blocks.push_back(std::move(block));
  }
  const bool fine = config_flag(config, "finegrained_output", true) && multiplier < 1;
  const int64_t out = fine ? 1280 : widths.of(1280);
  Convolution last = mobile_layer(weights, "conv_1x1", {width(16), out, 1}, style);
  weights.check_all_taken({"classifier."});
  return std::make_unique<MobileNetV2>(std::move(blocks), std::move(last),
                                       activation_of(config_text(config, "hidden_act", "relu6")));
}

}  // namespace protocom::huggingface
