#include <ATen/ATen.h>

#include "base/error.h"
#include "networks/huggingface/detail/convolutions.h"
#include "networks/huggingface/detail/layers.h"

/// MobileViT (Mehta and Rastegari 2021): inverted residuals, and between convolutions transformers over every p-th
/// position.
namespace protocom::huggingface {
namespace {

constexpr LayerNames kMobileVit = {
    ".attention.attention.query", ".attention.attention.key", ".attention.attention.value", ".attention.output.dense",
    ".layernorm_before",          ".layernorm_after",         ".intermediate.dense",        ".output.dense"};
constexpr double kMobileVitEpsilon = 1e-5;  // of batch norms

/// A block that attends to the whole map.
struct GlobalBlock {
  ConvolutionBlock local;
  at::Tensor in;  // [d, c, 1, 1]
  std::vector<TransformerLayer> layers;
  TransformerShape shape;
  Norm after;
  ConvolutionBlock projection, fusion;
};

/// Returns maps [n, c, h, w] as one sequence for each of the p x p positions in a patch: [n p^2, patches, c].
at::Tensor sequences_of(const at::Tensor& maps, int64_t patch) {
  return maps.unflatten(3, at::IntArrayRef({maps.size(3) / patch, patch}))
      .unflatten(2, at::IntArrayRef({maps.size(2) / patch, patch}))
      .permute({0, 3, 5, 2, 4, 1})
      .flatten(3, 4)
      .flatten(0, 2);
}

/// Inverts sequences_of: [n, c, h, w].
at::Tensor from_sequences(const at::Tensor& sequences, int64_t patch, int64_t height, int64_t width) {
  return sequences.unflatten(1, at::IntArrayRef({height / patch, width / patch}))
      .unflatten(0, at::IntArrayRef({sequences.size(0) / patch / patch, patch, patch}))
      .permute({0, 5, 3, 1, 4, 2})
      .flatten(4, 5)
      .flatten(2, 3);
}

at::Tensor run_global(const GlobalBlock& block, const at::Tensor& x) {
  const int64_t patch = block.shape.patch;
  const auto whole = [&](int64_t size) { return (size + patch - 1) / patch * patch; };
  const int64_t height = whole(x.size(2)), width = whole(x.size(3));
  const bool stretched = height != x.size(2) || width != x.size(3);
  at::Tensor y = at::conv2d(block.local(x), block.in);
  if (stretched) y = at::upsample_bilinear2d(y, {height, width}, /*align_corners=*/false);
  y = sequences_of(y, patch);
  for (const TransformerLayer& layer : block.layers) y = run_layer(layer, block.shape, y);
  y = from_sequences(block.after(y), patch, height, width);
  if (stretched) y = at::upsample_bilinear2d(y, {x.size(2), x.size(3)}, /*align_corners=*/false);
  return block.fusion(at::cat({x, block.projection(y)}, 1));
}

class MobileVit : public Network {
 public:
  struct Stage {
    std::vector<ConvolutionBlock> blocks;
    std::vector<GlobalBlock> global;  // at most one
  };
  MobileVit(std::vector<Stage> stages, ConvolutionBlock last) : stages_(std::move(stages)), last_(std::move(last)) {}

  [[nodiscard]] at::Tensor maps(const at::Tensor& images) const override {
    at::Tensor x = images;
    for (const Stage& stage : stages_) {
      for (const ConvolutionBlock& block : stage.blocks) x = block(x);
      for (const GlobalBlock& block : stage.global) x = run_global(block, x);
    }
    return last_(x);
  }
  [[nodiscard]] at::Tensor features(const at::Tensor& images) const override { return maps(images).mean({2, 3}); }

 private:
  std::vector<Stage> stages_;
  ConvolutionBlock last_;
};

class MobileVitReader {
 public:
  MobileVitReader(Weights& weights, const nlohmann::json& config) : weights_(weights) {
    usual_ = {0,
              config_integer(config, "num_attention_heads", 4),
              0,
              config_integer(config, "patch_size", 2),
              config_number(config, "layer_norm_eps", 1e-5),
              activation_of(config_text(config, "hidden_act", "silu"))};
    mlp_ = config_number(config, "mlp_ratio", 2);
    if (!(mlp_ > 0 && mlp_ <= 64)) fail("config.json: mlp_ratio {} is out of range", mlp_);
  }

  std::unique_ptr<Network> read() {
    std::vector<MobileVit::Stage> stages(1);
    stages[0].blocks = {plain("conv_stem", 2)};
    for (int64_t i = 0; is_there("encoder.layer." + std::to_string(i)); ++i)
      stages.push_back(stage("encoder.layer." + std::to_string(i), i == 0 ? 1 : 2));
    return std::make_unique<MobileVit>(std::move(stages), plain("conv_1x1_exp", 1));
  }

 private:
  [[nodiscard]] bool is_residual(const std::string& at) const {
    return weights_.has(at + ".expand_1x1.convolution.weight");
  }
  [[nodiscard]] bool is_there(const std::string& at) const {
    return is_residual(at + ".layer.0") || is_residual(at + ".downsampling_layer");
  }
  ConvolutionStep step(const std::string& at, int64_t stride, Activation activation) {
    ConvolutionStep made{
        folded(weights_, at + ".convolution", at + ".normalization", width_, stride, kMobileVitEpsilon), activation};
    width_ = made.convolution.out();
    return made;
  }
  ConvolutionBlock plain(const std::string& at, int64_t stride) {
    ConvolutionBlock block;
    block.steps.push_back(step(at, stride, usual_.activation));
    return block;
  }
  ConvolutionBlock residual(const std::string& at, int64_t stride) {
    const int64_t in = width_;
    ConvolutionBlock block;
    block.steps = {step(at + ".expand_1x1", 1, usual_.activation), step(at + ".conv_3x3", stride, usual_.activation),
                   step(at + ".reduce_1x1", 1, kNoActivation)};
    block.added = stride == 1 && in == width_;
    return block;
  }
  MobileVit::Stage stage(const std::string& at, int64_t stride) {
    MobileVit::Stage made;
    if (is_residual(at + ".downsampling_layer")) made.blocks.push_back(residual(at + ".downsampling_layer", stride));
    for (int64_t i = 0; is_residual(at + ".layer." + std::to_string(i)); ++i)
      made.blocks.push_back(residual(at + ".layer." + std::to_string(i), i == 0 ? stride : 1));
    if (weights_.has(at + ".conv_1x1.convolution.weight")) made.global.push_back(global(at));
    return made;
  }
  GlobalBlock global(const std::string& at) {
    const int64_t in = width_;
    GlobalBlock block;
    block.local = plain(at + ".conv_kxk", 1);
    block.in = weights_.take(at + ".conv_1x1.convolution.weight", {-1, width_, 1, 1});
    block.shape = usual_;
    block.shape.width = block.in.size(0);
    block.shape.mlp = static_cast<int64_t>(static_cast<double>(block.shape.width) * mlp_);
    if (block.shape.width % block.shape.heads != 0)
      fail("config.json: {} heads do not divide the width of {}", block.shape.heads, block.shape.width);
    block.layers = layers_of(weights_, at + ".transformer.layer.", kMobileVit, block.shape);
    block.after = norm(weights_, at + ".layernorm", block.shape.width, block.shape.epsilon);
    width_ = block.shape.width;
    block.projection = plain(at + ".conv_projection", 1);
    width_ += in;
    block.fusion = plain(at + ".fusion", 1);
    return block;
  }

  Weights& weights_;
  TransformerShape usual_{};
  double mlp_ = 2;
  int64_t width_ = 3;
};

}  // namespace

std::unique_ptr<Network> make_mobilevit(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "MobileViT", "conv_stem.convolution.weight");
  if (config_integer(config, "output_stride", 32) != 32)
    fail("config.json: output_stride: expected 32 (segmentation is not supported)");
  auto network = MobileVitReader(weights, config).read();
  weights.check_all_taken({"classifier.", "segmentation_head."});
  return network;
}

}  // namespace protocom::huggingface
