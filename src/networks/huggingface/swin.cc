#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "networks/huggingface/detail/layers.h"
#include "networks/huggingface/detail/relative_bias.h"

/// Swin (Liu et al. 2021): attention within windows, shifted by half a window in every second block; and Swin V2
/// (Liu et al. 2022): attention by cosines, norms after the branches.
namespace protocom::huggingface {
namespace {

constexpr LayerNames kSwin = {".attention.self.query",   ".attention.self.key", ".attention.self.value",
                              ".attention.output.dense", ".layernorm_before",   ".layernorm_after",
                              ".intermediate.dense",     ".output.dense"};
constexpr double kElsewhere = -100;

struct SwinBlock {
  TransformerLayer layer;
  TransformerShape shape;
  int64_t window;
  at::Tensor bias;  // [heads, window^2, window^2]
  bool shifted;
  at::Tensor scale;  // of cosines, [heads, 1, 1], in V2; undefined: V1
  double elsewhere;  // added where two positions are neighbours only by the shift
};

struct SwinStage {
  std::vector<SwinBlock> blocks;
  Norm merged;           // of four concatenated neighbours, in V2 after the reduction
  at::Tensor reduction;  // [2 w, 4 w]; undefined: the last stage
};

/// Computes [n, h, w, c] -> [n windows, window^2, c].
at::Tensor windows_of(const at::Tensor& x, int64_t window) {
  return x.unflatten(2, at::IntArrayRef({x.size(2) / window, window}))
      .unflatten(1, at::IntArrayRef({x.size(1) / window, window}))
      .transpose(2, 3)
      .reshape({-1, window * window, x.size(3)});
}

/// Inverts windows_of: [n, h, w, c].
at::Tensor from_windows(const at::Tensor& windows, int64_t window, int64_t height, int64_t width) {
  return windows.view({-1, height / window, width / window, window, window, windows.size(2)})
      .transpose(2, 3)
      .reshape({-1, height, width, windows.size(2)});
}

/// Returns 1 where positions in shifted windows are from different edges of the image, [windows, window^2, window^2].
at::Tensor mask_of_shift(int64_t height, int64_t width, int64_t window, const at::TensorOptions& options) {
  const auto parts = [&](int64_t size) {
    const at::Tensor place = at::arange(size, options);
    return (place >= size - window).to(options) + (place >= size - window / 2).to(options);
  };
  const at::Tensor image = parts(height).view({1, -1, 1, 1}) * 3 + parts(width).view({1, 1, -1, 1});
  const at::Tensor part = windows_of(image, window).squeeze(2);
  return (part.unsqueeze(1) != part.unsqueeze(2)).to(options);
}

/// Scales queries or keys [m, t, w] to `length` in each head (broadcast to [heads, 1, 1]).
at::Tensor with_lengths(const at::Tensor& x, int64_t heads, const at::Tensor& length) {
  constexpr double kLeast = 1e-12;
  const at::Tensor by_heads = x.unflatten(-1, at::IntArrayRef({heads, x.size(-1) / heads}));
  const at::Tensor own = at::linalg_vector_norm(by_heads, 2, at::IntArrayRef({-1}), /*keepdim=*/true).clamp_min(kLeast);
  return (by_heads / own * length.view({-1, 1})).flatten(2);
}

at::Tensor attend(const SwinBlock& block, const at::Tensor& windows, const at::Tensor& mask) {
  at::Tensor bias = block.bias;
  if (mask.defined()) bias = bias + mask.unsqueeze(1) * block.elsewhere;
  const int64_t heads = block.shape.heads, head_width = block.shape.width / heads;
  auto qkv = block.layer.qkv(windows).chunk(3, -1);
  if (block.scale.defined()) {  // attention() divides by the root of a head's width
    qkv[0] = with_lengths(qkv[0], heads, block.scale * std::sqrt(static_cast<double>(head_width)));
    qkv[1] = with_lengths(qkv[1], heads, at::ones_like(block.scale));
  }
  return block.layer.projection(attention(qkv[0], qkv[1], qkv[2], heads, bias));
}

/// Runs a block; keeps the sizes [n, h, w, c].
at::Tensor run(const SwinBlock& block, const at::Tensor& x) {
  const int64_t window = block.window;
  const int64_t height = x.size(1);
  const int64_t width = x.size(2);
  if (std::min(height, width) < window)
    fail("maps of {}x{} positions are smaller than the windows of {}", width, height, window);
  const auto missing = [&](int64_t size) { return (window - size % window) % window; };
  const bool norms_behind = block.scale.defined();
  at::Tensor y =
      at::constant_pad_nd(norms_behind ? x : block.layer.norm1(x), {0, 0, 0, missing(width), 0, missing(height)}, 0);
  const int64_t shift = block.shifted && std::min(height, width) > window ? window / 2 : 0;
  if (shift > 0) y = y.roll({-shift, -shift}, {1, 2});
  const int64_t tall = y.size(1);
  const int64_t wide = y.size(2);
  const at::Tensor mask = shift > 0 ? mask_of_shift(tall, wide, window, y.options()) : at::Tensor();
  y = from_windows(attend(block, windows_of(y, window), mask), window, tall, wide);
  if (shift > 0) y = y.roll({shift, shift}, {1, 2});
  y = y.slice(1, 0, height).slice(2, 0, width);
  const auto mlp = [&](const at::Tensor& z) { return block.layer.fc2(block.shape.activation(block.layer.fc1(z))); };
  const at::Tensor seen = x + (norms_behind ? block.layer.norm1(y) : y);
  return seen + (norms_behind ? block.layer.norm2(mlp(seen)) : mlp(block.layer.norm2(seen)));
}

/// Merges patches: four neighbours become one position with twice the channels.
at::Tensor merge(const SwinStage& stage, const at::Tensor& x) {
  const at::Tensor even = at::constant_pad_nd(x, {0, 0, 0, x.size(2) % 2, 0, x.size(1) % 2}, 0);
  std::vector<at::Tensor> parts;
  for (const int64_t column : {0, 1}) {
    for (const int64_t row : {0, 1}) parts.push_back(even.slice(1, row, {}, 2).slice(2, column, {}, 2));
  }
  const at::Tensor four = at::cat(parts, -1);
  const bool norm_behind = stage.merged.weight.size(0) == stage.reduction.size(0);
  return norm_behind ? stage.merged(at::linear(four, stage.reduction))
                     : at::linear(stage.merged(four), stage.reduction);
}

class Swin : public Network {
 public:
  struct Parts {
    at::Tensor patch_weight, patch_bias;
    Norm before, after;
    std::vector<SwinStage> stages;
    int64_t side = 0;  // of the images for which windows were chosen; 0: any
  };
  explicit Swin(Parts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] at::Tensor maps(const at::Tensor& images) const override {
    const int64_t patch = parts_.patch_weight.size(2);
    if (parts_.side > 0 && (images.size(2) != parts_.side || images.size(3) != parts_.side))
      fail("images of {}x{} pixels, expected {}x{}, which config.json states", images.size(3), images.size(2),
           parts_.side, parts_.side);
    at::Tensor x = at::conv2d(images, parts_.patch_weight, parts_.patch_bias, patch).permute({0, 2, 3, 1});
    x = parts_.before(x);
    for (const SwinStage& stage : parts_.stages) {
      for (const SwinBlock& block : stage.blocks) x = run(block, x);
      if (stage.reduction.defined()) x = merge(stage, x);
    }
    return parts_.after(x).permute({0, 3, 1, 2});
  }
  [[nodiscard]] at::Tensor features(const at::Tensor& images) const override { return maps(images).mean({2, 3}); }

 private:
  Parts parts_;
};

/// Properties common to the blocks of a stage.
struct SwinStyle {
  TransformerShape usual;
  double mlp;
  bool second = false;                   // whether V2
  int64_t window = 0, side = 0;          // in V2, for images of side x side pixels
  std::vector<int64_t> pretrained = {};  // windows of the stages before fine-tuning; 0: the same
  double elsewhere = kElsewhere;
};

class SwinReader {
 public:
  SwinReader(Weights& weights, SwinStyle style) : weights_(weights), biases_(weights), style_(std::move(style)) {}

  /// Reads the blocks of stage `stage`, `width` wide.
  std::vector<SwinBlock> blocks(size_t stage, const std::string& begin, int64_t width) {
    TransformerShape shape = style_.usual;
    shape.width = width;
    shape.mlp = static_cast<int64_t>(static_cast<double>(width) * style_.mlp);
    std::vector<SwinBlock> blocks;
    for (TransformerLayer& layer : layers_of(weights_, begin, kSwin, shape)) {
      const std::string at = begin + std::to_string(blocks.size()) + ".attention.self.";
      const bool shifted = blocks.size() % 2 == 1;
      blocks.push_back({std::move(layer), shape, 0, {}, shifted, {}, style_.elsewhere});
      SwinBlock& block = blocks.back();
      if (style_.second)
        add_cosines(block, stage, at);
      else
        add_table(block, at);
      if (width % block.shape.heads != 0) fail("'{}' has {} heads for {} channels", at, block.shape.heads, width);
    }
    return blocks;
  }

 private:
  /// V1: the table of biases determines window and heads.
  void add_table(SwinBlock& block, const std::string& at) {
    block.bias = biases_.take(at + "relative_position_bias_table", /*class_token=*/false);
    block.shape.heads = block.bias.size(0);
    block.window = std::lround(std::sqrt(static_cast<double>(block.bias.size(1))));
  }
  /// V2: a window is at most the stage's map, in which case it is not shifted.
  void add_cosines(SwinBlock& block, size_t stage, const std::string& at) {
    constexpr double kMostScale = 100;
    const int64_t map = std::max<int64_t>(style_.side / style_.usual.patch >> stage, 1);
    block.window = std::min(map, style_.window);
    block.shifted = block.shifted && map > block.window;
    const int64_t pretrained = stage < style_.pretrained.size() ? style_.pretrained[stage] : 0;
    block.bias = biases_.compute(at + "continuous_position_bias_mlp", block.window, pretrained);
    block.shape.heads = block.bias.size(0);
    block.scale = weights_.take(at + "logit_scale", {block.shape.heads, 1, 1}).clamp_max(std::log(kMostScale)).exp();
  }

  Weights& weights_;
  RelativeBiases biases_;
  SwinStyle style_;
};

SwinStyle swin_style(const nlohmann::json& config, bool second) {
  const double epsilon = config_number(config, "layer_norm_eps", 1e-5);
  const int64_t patch = config_integer(config, "patch_size", 4);
  SwinStyle style{{0, 1, 0, patch, epsilon, activation_of(config_text(config, "hidden_act", "gelu"))},
                  config_number(config, "mlp_ratio", 4)};
  if (!(style.mlp > 0 && style.mlp <= 64)) fail("config.json: mlp_ratio {} is out of range", style.mlp);
  if (!second) return style;
  style.second = true;
  style.side = config_integer(config, "image_size", 224);
  style.window = config_integer(config, "window_size", 7);
  style.pretrained = config_integers(config, "pretrained_window_sizes", {}, 0);
  style.elsewhere =
      config_flag(config, "masks_once", false) ? kElsewhere : 2 * kElsewhere;  // `transformers` adds it twice
  return style;
}

}  // namespace

std::unique_ptr<Network> make_swin(const nlohmann::json& config, const Tensors& given) {
  const bool second = config_text(config, "model_type", "") == "swinv2";
  const Tensors tensors = with_zero_biases(given, ".attention.self.key.weight");
  Weights weights(tensors, second ? "Swin V2" : "Swin", "embeddings.patch_embeddings.projection.weight");
  const SwinStyle style = swin_style(config, second);
  SwinReader reader(weights, style);
  constexpr double kMergeEpsilon = 1e-5;
  Swin::Parts parts;
  parts.side = style.side;
  parts.patch_weight =
      weights.take("embeddings.patch_embeddings.projection.weight", {-1, 3, style.usual.patch, style.usual.patch});
  int64_t width = parts.patch_weight.size(0);
  parts.patch_bias = weights.take("embeddings.patch_embeddings.projection.bias", {width});
  parts.before = norm(weights, "embeddings.norm", width, kMergeEpsilon);
  for (bool last = false; !last;) {
    const std::string at = "encoder.layers." + std::to_string(parts.stages.size());
    SwinStage stage;
    stage.blocks = reader.blocks(parts.stages.size(), at + ".blocks.", width);
    last = !weights.has(at + ".downsample.reduction.weight");
    if (!last) {
      stage.merged = norm(weights, at + ".downsample.norm", second ? 2 * width : 4 * width, kMergeEpsilon);
      stage.reduction = weights.take(at + ".downsample.reduction.weight", {2 * width, 4 * width});
      width *= 2;
    }
    parts.stages.push_back(std::move(stage));
  }
  parts.after = norm(weights, "layernorm", width, style.usual.epsilon);
  weights.check_all_taken({"embeddings.mask_token", "classifier.", "decoder."});
  return std::make_unique<Swin>(std::move(parts));
}

}  // namespace protocom::huggingface
