#include <ATen/ATen.h>

#include "base/error.h"
#include "networks/huggingface/detail/layers.h"

/// ConvNeXt (Liu et al. 2022) and ConvNeXt V2 (Woo et al. 2023).
namespace protocom::huggingface {
namespace {

constexpr double kNormEpsilon = 1e-6;

at::Tensor channels_last(const at::Tensor& x) { return x.permute({0, 2, 3, 1}); }
at::Tensor channels_first(const at::Tensor& x) { return x.permute({0, 3, 1, 2}); }

struct ConvNextBlock {
  at::Tensor depthwise, depthwise_bias;
  Norm norm;
  Linear in, out;
  at::Tensor scale;                    // undefined: none
  at::Tensor response, response_bias;  // in V2: global response normalisation
};

struct ConvNextStage {
  Norm norm;
  at::Tensor weight, bias;  // the downsampling; undefined: none
  std::vector<ConvNextBlock> blocks;
};

/// Computes x + weight x N + bias, where N is the length of each channel over positions, divided by their mean.
at::Tensor response_norm(const at::Tensor& x, const ConvNextBlock& block) {
  const at::Tensor length = at::linalg_vector_norm(x, 2, at::IntArrayRef({1, 2}), /*keepdim=*/true);
  return block.response * (x * (length / (length.mean(-1, true) + kNormEpsilon))) + block.response_bias + x;
}

class ConvNeXt : public Network {
 public:
  struct Parts {
    at::Tensor stem, stem_bias;
    Norm stem_norm, norm;
    std::vector<ConvNextStage> stages;
    Activation activation = nullptr;
  };
  explicit ConvNeXt(Parts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] at::Tensor maps(const at::Tensor& images) const override {
    at::Tensor x = at::conv2d(images, parts_.stem, parts_.stem_bias, parts_.stem.size(2));
    x = channels_first(parts_.stem_norm(channels_last(x)));
    for (const ConvNextStage& stage : parts_.stages) {
      if (stage.weight.defined()) {
        x = channels_first(stage.norm(channels_last(x)));
        x = at::conv2d(x, stage.weight, stage.bias, stage.weight.size(2));
      }
      for (const ConvNextBlock& block : stage.blocks) x = x + branch(x, block);
    }
    return x;
  }
  [[nodiscard]] at::Tensor features(const at::Tensor& images) const override {
    return parts_.norm(maps(images).mean({2, 3}));
  }

 private:
  [[nodiscard]] at::Tensor branch(const at::Tensor& input, const ConvNextBlock& block) const {
    const int64_t width = block.depthwise.size(0);
    at::Tensor x = at::conv2d(input, block.depthwise, block.depthwise_bias, 1, block.depthwise.size(2) / 2, 1, width);
    x = block.norm(channels_last(x));
    x = parts_.activation(block.in(x));
    if (block.response.defined()) x = response_norm(x, block);
    x = block.out(x);
    return channels_first(block.scale.defined() ? x * block.scale : x);
  }

  Parts parts_;
};

ConvNextBlock convnext_block(Weights& weights, const std::string& at, int64_t width) {
  ConvNextBlock block;
  block.depthwise = weights.take(at + ".dwconv.weight", {width, 1, 7, 7}).contiguous(at::MemoryFormat::ChannelsLast);
  block.depthwise_bias = weights.take(at + ".dwconv.bias", {width});
  block.norm = norm(weights, at + ".layernorm", width, kNormEpsilon);
  block.in = linear(weights, at + ".pwconv1", width, 4 * width);
  block.out = linear(weights, at + ".pwconv2", 4 * width, width);
  block.scale = weights.take_if_there(at + ".layer_scale_parameter", {width});
  block.response = weights.take_if_there(at + ".grn.weight", {1, 1, 1, 4 * width});
  if (block.response.defined()) block.response_bias = weights.take(at + ".grn.bias", {1, 1, 1, 4 * width});
  return block;
}

ConvNextStage convnext_stage(Weights& weights, const std::string& at, int64_t before) {
  ConvNextStage stage;
  int64_t width = before;
  if (weights.has(at + ".downsampling_layer.1.weight")) {
    stage.norm = norm(weights, at + ".downsampling_layer.0", before, kNormEpsilon);
    stage.weight = weights.take(at + ".downsampling_layer.1.weight", {-1, before, 2, 2});
    width = stage.weight.size(0);
    stage.bias = weights.take(at + ".downsampling_layer.1.bias", {width});
  }
  const int64_t count = weights.count(at + ".layers.", ".dwconv.weight");
  for (int64_t i = 0; i < count; ++i)
    stage.blocks.push_back(convnext_block(weights, at + ".layers." + std::to_string(i), width));
  if (count == 0) fail("missing tensor '{}.layers.0.dwconv.weight' of the family {}", at, weights.family());
  return stage;
}

}  // namespace

std::unique_ptr<Network> make_convnext(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "ConvNeXt", "embeddings.patch_embeddings.weight");
  const int64_t patch = config_integer(config, "patch_size", 4);
  ConvNeXt::Parts parts;
  parts.activation = activation_of(config_text(config, "hidden_act", "gelu"));
  parts.stem = weights.take("embeddings.patch_embeddings.weight", {-1, 3, patch, patch});
  int64_t width = parts.stem.size(0);
  parts.stem_bias = weights.take("embeddings.patch_embeddings.bias", {width});
  parts.stem_norm = norm(weights, "embeddings.layernorm", width, kNormEpsilon);
  const int64_t stages = weights.count("encoder.stages.", ".layers.0.dwconv.weight");
  for (int64_t i = 0; i < stages; ++i) {
    parts.stages.push_back(convnext_stage(weights, "encoder.stages." + std::to_string(i), width));
    width = parts.stages.back().blocks.front().depthwise.size(0);
  }
  parts.norm = norm(weights, "layernorm", width, config_number(config, "layer_norm_eps", 1e-12));
  weights.check_all_taken({"classifier."});
  return std::make_unique<ConvNeXt>(std::move(parts));
}

}  // namespace protocom::huggingface
