#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "networks/huggingface/detail/layers.h"
#include "networks/huggingface/detail/relative_bias.h"

/// Swin (Liu et al. 2021): attention within windows, every second time shifted by half a window.
namespace protocom::huggingface {
namespace {

constexpr LayerNames kSwin = {".attention.self.query",   ".attention.self.key", ".attention.self.value",
                              ".attention.output.dense", ".layernorm_before",   ".layernorm_after",
                              ".intermediate.dense",     ".output.dense"};
constexpr double kElsewhere = -100;  // added where only the shift made two places neighbours

struct SwinBlock {
  TransformerLayer layer;
  TransformerShape shape;
  int64_t window;
  at::Tensor bias;  // [heads, window^2, window^2]
  bool shifted;
};

struct SwinStage {
  std::vector<SwinBlock> blocks;
  Norm merged;           // of four concatenated neighbours
  at::Tensor reduction;  // [2 w, 4 w]; undefined: the last stage
};

/// [n, h, w, c] -> [n windows, window^2, c].
at::Tensor windows_of(const at::Tensor& x, int64_t window) {
  return x.unflatten(2, at::IntArrayRef({x.size(2) / window, window}))
      .unflatten(1, at::IntArrayRef({x.size(1) / window, window}))
      .transpose(2, 3)
      .reshape({-1, window * window, x.size(3)});
}

/// The inverse of windows_of: [n, h, w, c].
at::Tensor from_windows(const at::Tensor& windows, int64_t window, int64_t height, int64_t width) {
  return windows.view({-1, height / window, width / window, window, window, windows.size(2)})
      .transpose(2, 3)
      .reshape({-1, height, width, windows.size(2)});
}

/// The mask of shifted windows, [windows, window^2, window^2]: places from different edges of the image do not attend
/// to each other.
at::Tensor mask_of_shift(int64_t height, int64_t width, int64_t window, const at::TensorOptions& options) {
  const auto parts = [&](int64_t size) {
    const at::Tensor place = at::arange(size, options);
    return (place >= size - window).to(options) + (place >= size - window / 2).to(options);
  };
  const at::Tensor image = parts(height).view({1, -1, 1, 1}) * 3 + parts(width).view({1, 1, -1, 1});
  const at::Tensor part = windows_of(image, window).squeeze(2);
  return (part.unsqueeze(1) != part.unsqueeze(2)).to(options) * kElsewhere;
}

at::Tensor attend(const SwinBlock& block, const at::Tensor& windows, const at::Tensor& mask) {
  at::Tensor bias = block.bias;
  if (mask.defined()) {
    const int64_t images = windows.size(0) / mask.size(0);
    bias = (bias + mask.unsqueeze(1)).repeat({images, 1, 1, 1});
  }
  const auto qkv = block.layer.qkv(windows).chunk(3, -1);
  return block.layer.projection(attention(qkv[0], qkv[1], qkv[2], block.shape.heads, bias));
}

/// [n, h, w, c] -> the same.
at::Tensor run(const SwinBlock& block, const at::Tensor& x) {
  const int64_t window = block.window;
  const int64_t height = x.size(1);
  const int64_t width = x.size(2);
  if (std::min(height, width) < window)
    fail("maps of {}x{} positions are smaller than the windows of {}", width, height, window);
  const auto missing = [&](int64_t size) { return (window - size % window) % window; };
  at::Tensor y = at::constant_pad_nd(block.layer.norm1(x), {0, 0, 0, missing(width), 0, missing(height)}, 0);
  const int64_t shift = block.shifted && std::min(height, width) > window ? window / 2 : 0;
  if (shift > 0) y = y.roll({-shift, -shift}, {1, 2});
  const int64_t tall = y.size(1);
  const int64_t wide = y.size(2);
  const at::Tensor mask = shift > 0 ? mask_of_shift(tall, wide, window, y.options()) : at::Tensor();
  y = from_windows(attend(block, windows_of(y, window), mask), window, tall, wide);
  if (shift > 0) y = y.roll({shift, shift}, {1, 2});
  const at::Tensor seen = x + y.slice(1, 0, height).slice(2, 0, width);
  return seen + block.layer.fc2(block.shape.activation(block.layer.fc1(block.layer.norm2(seen))));
}

/// Patch merging: four neighbours become one place of twice the channels.
at::Tensor merge(const SwinStage& stage, const at::Tensor& x) {
  const at::Tensor even = at::constant_pad_nd(x, {0, 0, 0, x.size(2) % 2, 0, x.size(1) % 2}, 0);
  std::vector<at::Tensor> parts;
  for (const int64_t column : {0, 1}) {
    for (const int64_t row : {0, 1}) parts.push_back(even.slice(1, row, {}, 2).slice(2, column, {}, 2));
  }
  return at::linear(stage.merged(at::cat(parts, -1)), stage.reduction);
}

class Swin : public Network {
 public:
  struct Parts {
    at::Tensor patch_weight, patch_bias;
    Norm before, after;
    std::vector<SwinStage> stages;
  };
  explicit Swin(Parts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] at::Tensor maps(const at::Tensor& images) const override {
    const int64_t patch = parts_.patch_weight.size(2);
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

/// The blocks of a stage; their tables of biases give windows and heads.
std::vector<SwinBlock> swin_blocks(Weights& weights, RelativeBiases& biases, const std::string& begin, int64_t width,
                                   double mlp, const TransformerShape& usual) {
  std::vector<SwinBlock> blocks;
  const std::string end = ".attention.self.relative_position_bias_table";
  const int64_t count = weights.count(begin, end);
  if (count == 0) fail("missing tensor '{}0{}' of the family {}", begin, end, weights.family());
  TransformerShape shape = usual;
  shape.width = width;
  shape.mlp = static_cast<int64_t>(static_cast<double>(width) * mlp);
  std::vector<TransformerLayer> layers = layers_of(weights, begin, kSwin, shape);
  if (static_cast<int64_t>(layers.size()) != count)
    fail("'{}' has {} layers but {} tables of positions", begin, layers.size(), count);
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = begin + std::to_string(i) + end;
    const at::Tensor bias = biases.take(name, /*class_token=*/false);
    shape.heads = bias.size(0);
    if (width % shape.heads != 0) fail("tensor '{}' has {} heads for {} channels", name, shape.heads, width);
    const int64_t window = std::lround(std::sqrt(static_cast<double>(bias.size(1))));
    blocks.push_back({std::move(layers.at(static_cast<size_t>(i))), shape, window, bias, i % 2 == 1});
  }
  return blocks;
}

}  // namespace

std::unique_ptr<Network> make_swin(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "Swin", "embeddings.patch_embeddings.projection.weight");
  RelativeBiases biases(weights);
  Swin::Parts parts;
  const double epsilon = config_number(config, "layer_norm_eps", 1e-5);
  constexpr double kMergeEpsilon = 1e-5;
  const double mlp = config_number(config, "mlp_ratio", 4);
  if (!(mlp > 0 && mlp <= 64)) fail("config.json: mlp_ratio {} is out of range", mlp);
  const int64_t patch = config_integer(config, "patch_size", 4);
  const TransformerShape usual{0, 1, 0, patch, epsilon, activation_of(config_text(config, "hidden_act", "gelu"))};
  parts.patch_weight = weights.take("embeddings.patch_embeddings.projection.weight", {-1, 3, patch, patch});
  int64_t width = parts.patch_weight.size(0);
  parts.patch_bias = weights.take("embeddings.patch_embeddings.projection.bias", {width});
  parts.before = norm(weights, "embeddings.norm", width, kMergeEpsilon);
  for (bool last = false; !last;) {
    const std::string at = "encoder.layers." + std::to_string(parts.stages.size());
    SwinStage stage;
    stage.blocks = swin_blocks(weights, biases, at + ".blocks.", width, mlp, usual);
    last = !weights.has(at + ".downsample.reduction.weight");
    if (!last) {
      stage.merged = norm(weights, at + ".downsample.norm", 4 * width, kMergeEpsilon);
      stage.reduction = weights.take(at + ".downsample.reduction.weight", {2 * width, 4 * width});
      width *= 2;
    }
    parts.stages.push_back(std::move(stage));
  }
  parts.after = norm(weights, "layernorm", width, epsilon);
  weights.check_all_taken({"embeddings.mask_token", "classifier.", "decoder."});
  return std::make_unique<Swin>(std::move(parts));
}

}  // namespace protocom::huggingface
