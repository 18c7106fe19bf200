#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "networks/huggingface/detail/convolutions.h"
#include "networks/huggingface/detail/network.h"

/// MobileNet v1 (Howard et al. 2017) and v2 (Sandler et al. 2018) and EfficientNet (Tan and Le 2019), as converted from
/// TensorFlow in `transformers`.
namespace protocom::huggingface {
namespace {

/// Properties common to all layers of a MobileNet.
struct MobileStyle {
  double epsilon;
  Pads pads;
  Activation activation;
};

MobileStyle style_of(const nlohmann::json& config) {
  if (config_integer(config, "output_stride", 32) != 32)
    fail("config.json: output_stride: expected 32 (segmentation is not supported)");
  return {config_number(config, "layer_norm_eps", 1e-3),
          config_flag(config, "tf_padding", true) ? Pads::kTensorFlow : Pads::kEven,
          activation_of(config_text(config, "hidden_act", "relu6"))};
}

/// Reads a layer of `width` channels, which is set to its output's.
ConvolutionStep mobile_layer(Weights& weights, const std::string& name, int64_t& width, int64_t stride,
                             const MobileStyle& style, Activation activation) {
  ConvolutionStep step{folded(weights, name + ".convolution", name + ".normalization", width, stride, style.epsilon),
                       activation};
  step.convolution.pads = style.pads;
  width = step.convolution.out();
  return step;
}

/// The properties of a block of EfficientNet.
struct EfficientPlace {
  std::string name;
  int64_t stride;
  bool first;  // of its stage
  Pads pads;   // if it has a stride
};

ConvolutionBlock efficient_block(Weights& weights, const EfficientPlace& place, int64_t& width, double epsilon,
                                 Activation activation) {
  ConvolutionBlock block;
  const auto step = [&](const std::string& convolution, const std::string& norm, int64_t stride, Activation behind) {
    block.steps.push_back(
        {folded(weights, place.name + convolution, place.name + norm, width, stride, epsilon), behind});
    width = block.steps.back().convolution.out();
  };
  if (weights.has(place.name + ".expansion.expand_conv.weight"))
    step(".expansion.expand_conv", ".expansion.expand_bn", 1, activation);
  step(".depthwise_conv.depthwise_conv", ".depthwise_conv.depthwise_norm", place.stride, activation);
  if (place.stride == 2) block.steps.back().convolution.pads = place.pads;
  block.steps.back().excite =
      squeeze_excite(weights, place.name + ".squeeze_excite.reduce", place.name + ".squeeze_excite.expand", width);
  block.steps.back().excite->inner = activation;
  step(".projection.project_conv", ".projection.project_bn", 1, kNoActivation);
  block.added = place.stride == 1 && !place.first;
  return block;
}

}  // namespace

std::unique_ptr<Network> make_mobilenet_v1(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "MobileNetV1", "conv_stem.convolution.weight");
  constexpr std::array<int64_t, 13> kStrides = {1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1};
  const MobileStyle style = style_of(config);
  int64_t width = 3;
  std::vector<ConvolutionBlock> blocks(1);
  std::vector<ConvolutionStep>& steps = blocks[0].steps;
  steps.push_back(mobile_layer(weights, "conv_stem", width, 2, style, style.activation));
  for (size_t i = 0; i < kStrides.size(); ++i) {
    steps.push_back(
        mobile_layer(weights, "layer." + std::to_string(2 * i), width, kStrides[i], style, style.activation));
    steps.push_back(mobile_layer(weights, "layer." + std::to_string(2 * i + 1), width, 1, style, style.activation));
  }
  weights.check_all_taken({"classifier."});
  return std::make_unique<ConvolutionNetwork>(std::move(blocks));
}

std::unique_ptr<Network> make_mobilenet_v2(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "MobileNetV2", "conv_stem.first_conv.convolution.weight");
  constexpr std::array<int64_t, 16> kStrides = {2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1};
  const MobileStyle style = style_of(config);
  int64_t width = 3;
  std::vector<ConvolutionBlock> blocks(1);
  blocks[0].steps = {mobile_layer(weights, "conv_stem.first_conv", width, 2, style, style.activation),
                     mobile_layer(weights, "conv_stem.conv_3x3", width, 1, style, style.activation),
                     mobile_layer(weights, "conv_stem.reduce_1x1", width, 1, style, kNoActivation)};
  for (size_t i = 0; i < kStrides.size(); ++i) {
    const std::string at = "layer." + std::to_string(i);
    const int64_t in = width;
    ConvolutionBlock block;
    block.steps = {mobile_layer(weights, at + ".expand_1x1", width, 1, style, style.activation),
                   mobile_layer(weights, at + ".conv_3x3", width, kStrides[i], style, style.activation),
                   mobile_layer(weights, at + ".reduce_1x1", width, 1, style, kNoActivation)};
    block.added = in == width && kStrides[i] == 1;
    blocks.push_back(std::move(block));
  }
  blocks.emplace_back().steps.push_back(mobile_layer(weights, "conv_1x1", width, 1, style, style.activation));
  weights.check_all_taken({"classifier."});
  return std::make_unique<ConvolutionNetwork>(std::move(blocks));
}

std::unique_ptr<Network> make_efficientnet(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "EfficientNet", "embeddings.convolution.weight");
  const double epsilon = config_number(config, "batch_norm_eps", 1e-3);
  const Activation activation = activation_of(config_text(config, "hidden_act", "swish"));
  const double deeper = config_number(config, "depth_coefficient", 3.1);
  const std::vector<int64_t> strides = config_integers(config, "strides", {1, 2, 2, 2, 1, 2, 1}, 1);
  const std::vector<int64_t> repeats = config_integers(config, "num_block_repeats", {1, 2, 2, 3, 3, 4, 1}, 1);
  const std::vector<int64_t> even = config_integers(config, "depthwise_padding", {}, 0);
  if (strides.size() != repeats.size() || !(deeper > 0 && deeper < 100))
    fail("config.json: strides, num_block_repeats and depth_coefficient do not fit one another");
  if (config_text(config, "pooling_type", "mean") != "mean")
    fail("config.json: pooling_type: expected mean: export it to ONNX");
  int64_t width = 3;
  std::vector<ConvolutionBlock> blocks(1);
  blocks[0].steps.push_back(
      {folded(weights, "embeddings.convolution", "embeddings.batchnorm", width, 2, epsilon), activation});
  blocks[0].steps[0].convolution.pads = Pads::kLater;
  width = blocks[0].steps[0].convolution.out();
  int64_t number = 0;
  for (size_t stage = 0; stage < strides.size(); ++stage) {
    const auto count = static_cast<int64_t>(std::ceil(deeper * static_cast<double>(repeats[stage])));
    for (int64_t i = 0; i < count; ++i, ++number) {
      const bool is_even = std::count(even.begin(), even.end(), number) > 0;
      blocks.push_back(efficient_block(weights,
                                       {"encoder.blocks." + std::to_string(number), i == 0 ? strides[stage] : 1, i == 0,
                                        is_even ? Pads::kEven : Pads::kLater},
                                       width, epsilon, activation));
    }
  }
  blocks.emplace_back().steps.push_back(
      {folded(weights, "encoder.top_conv", "encoder.top_bn", width, 1, epsilon), activation});
  weights.check_all_taken({"classifier."});
  return std::make_unique<ConvolutionNetwork>(std::move(blocks));
}

}  // namespace protocom::huggingface
