#include <ATen/ATen.h>

#include "base/error.h"
#include "networks/huggingface/detail/layers.h"

/// DINOv3 (Simeoni et al. 2025) and EVA-02 (Fang et al. 2023): transformers with rotary position embeddings of queries
/// and keys (RoPE).
namespace protocom::huggingface {
namespace {

constexpr LayerNames kDino3 = {
    ".attention.q_proj", ".attention.k_proj", ".attention.v_proj",     ".attention.o_proj",    ".norm1", ".norm2",
    ".mlp.up_proj",      ".mlp.down_proj",    ".layer_scale1.lambda1", ".layer_scale2.lambda1"};
constexpr double kPi = 3.14159265358979323846;

struct TurnedLayer {
  TransformerLayer layer;
  Linear gate;        // in the largest one and in EVA-02; undefined: none
  Norm seen, inside;  // EVA-02's norms before the last matrix of each branch; undefined: none
};

/// Cosines and sines for the patches of a grid, [patches, 1, width of a head].
struct Turn {
  at::Tensor cosine, sine;
};

/// How angles depend on positions.
struct Rope {
  double base = 100;
  int64_t grid = 0;  ///< EVA-02's: positions from 0 to this along each side; 0: DINOv3's, centres from -1 to 1
};

/// Returns angles p / base^(4 i / width), i = 0, 1, ... for positions p along each side, repeated twice.
Turn rotary_turn(int64_t rows, int64_t columns, int64_t width, const Rope& rope, const at::TensorOptions& options) {
  const auto line = [&](int64_t count) {
    const at::Tensor numbers = at::arange(count, options);
    return rope.grid > 0 ? numbers / count * rope.grid : ((numbers + 0.5) / count * 2 - 1) * (2 * kPi);
  };
  const at::Tensor places = at::stack(
      {line(rows).view({-1, 1}).expand({rows, columns}), line(columns).view({1, -1}).expand({rows, columns})}, -1);
  const at::Tensor steps = at::pow(rope.base, -at::arange(width / 4, options) * 4 / width);
  const at::Tensor angles = (places.reshape({rows * columns, 2, 1}) * steps).flatten(1).repeat({1, 2});
  return {angles.cos().unsqueeze(1), angles.sin().unsqueeze(1)};
}

/// Which tokens make the feature.
enum class Pooled { kClassToken, kMeanOfPatches, kNormOfMean };

class TurnedTransformer : public Network {
 public:
  struct Parts {
    TransformerShape shape;
    Rope rope;
    Pooled pooled = Pooled::kClassToken;
    at::Tensor patch_weight, patch_bias, own;  // own: class token and registers, [1, 1 + r, w]
    at::Tensor positions;                      // [1, t, w]: EVA-02's; undefined: none
    std::vector<TurnedLayer> layers;
    Norm after;
  };
  explicit TurnedTransformer(Parts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] at::Tensor features(const at::Tensor& images) const override {
    const at::Tensor all = tokens(images);
    if (parts_.pooled == Pooled::kClassToken) return parts_.after(all.select(1, 0));
    const at::Tensor patches = all.slice(1, parts_.own.size(1));
    return parts_.pooled == Pooled::kNormOfMean ? parts_.after(patches.mean(1)) : parts_.after(patches).mean(1);
  }
  [[nodiscard]] at::Tensor maps(const at::Tensor& images) const override {
    const at::Tensor all = tokens(images);
    const at::Tensor patches =
        (parts_.pooled == Pooled::kNormOfMean ? all : parts_.after(all)).slice(1, parts_.own.size(1));
    const int64_t patch = parts_.shape.patch;
    return patches.transpose(1, 2).reshape(
        {images.size(0), parts_.shape.width, images.size(2) / patch, images.size(3) / patch});
  }

 private:
  [[nodiscard]] at::Tensor tokens(const at::Tensor& images) const;
  [[nodiscard]] at::Tensor turned(const at::Tensor& x, const Turn& turn) const;
  [[nodiscard]] at::Tensor run(const TurnedLayer& one, const Turn& turn, at::Tensor x) const;

  Parts parts_;
};

/// Rotates queries or keys [n, t, w] of patches within each head: pairs (a, b) of its halves become (a cos - b sin, b
/// cos + a sin).
at::Tensor TurnedTransformer::turned(const at::Tensor& x, const Turn& turn) const {
  const int64_t heads = parts_.shape.heads;
  const at::Tensor by_heads = x.unflatten(-1, at::IntArrayRef({heads, x.size(-1) / heads}));
  const int64_t own = parts_.own.size(1);
  const at::Tensor patches = by_heads.slice(1, own);
  const auto halves = patches.chunk(2, -1);
  const at::Tensor after = patches * turn.cosine + at::cat({-halves[1], halves[0]}, -1) * turn.sine;
  return at::cat({by_heads.slice(1, 0, own), after}, 1).flatten(2);
}

at::Tensor TurnedTransformer::run(const TurnedLayer& one, const Turn& turn, at::Tensor x) const {
  const TransformerLayer& layer = one.layer;
  const auto normed = [](const Norm& norm, const at::Tensor& y) { return norm.weight.defined() ? norm(y) : y; };
  const auto qkv = layer.qkv(layer.norm1(x)).chunk(3, -1);
  const at::Tensor seen = attention(turned(qkv[0], turn), turned(qkv[1], turn), qkv[2], parts_.shape.heads);
  x = x + scaled(layer.projection(normed(one.seen, seen)), layer.scale1);
  const at::Tensor normal = layer.norm2(x);
  const at::Tensor inner = one.gate.weight.defined() ? parts_.shape.activation(one.gate(normal)) * layer.fc1(normal)
                                                     : parts_.shape.activation(layer.fc1(normal));
  return x + scaled(layer.fc2(normed(one.inside, inner)), layer.scale2);
}

at::Tensor TurnedTransformer::tokens(const at::Tensor& images) const {
  const TransformerShape& shape = parts_.shape;
  const int64_t rows = images.size(2) / shape.patch;
  const int64_t columns = images.size(3) / shape.patch;
  if (rows < 1 || columns < 1)
    fail("images of {}x{} pixels have no patch of {}", images.size(3), images.size(2), shape.patch);
  const at::Tensor patches = at::conv2d(images, parts_.patch_weight, parts_.patch_bias, shape.patch);
  at::Tensor x = at::cat({parts_.own.expand({images.size(0), -1, -1}), patches.flatten(2).transpose(1, 2)}, 1);
  if (parts_.positions.defined())
    x = x + positions_for(parts_.positions, parts_.own.size(1), {rows, columns}, Stretch::kAntialiased);
  const Turn turn = rotary_turn(rows, columns, shape.width / shape.heads, parts_.rope, x.options());
  for (const TurnedLayer& one : parts_.layers) x = run(one, turn, std::move(x));
  return x;
}

}  // namespace

std::unique_ptr<Network> make_dinov3(const nlohmann::json& config, const Tensors& given) {
  const Tensors tensors = with_zero_biases(given, "_proj.weight");
  Weights weights(tensors, "DINOv3", "embeddings.cls_token");
  TurnedTransformer::Parts parts;
  TransformerShape& shape = parts.shape;
  shape = shape_of(config, {384, 6, 1536, 16, 1e-5, nullptr}, "gelu");
  if (shape.width / shape.heads % 4 != 0)
    fail("config.json: heads are {} wide, expected a multiple of 4", shape.width / shape.heads);
  parts.rope.base = config_number(config, "rope_theta", parts.rope.base);
  if (!(parts.rope.base > 0)) fail("config.json: rope_theta {} is out of range", parts.rope.base);
  if (config.contains("rope_grid")) parts.rope.grid = config_integer(config, "rope_grid", 1);
  if (config_flag(config, "mean_of_patches", false)) parts.pooled = Pooled::kMeanOfPatches;
  if (config_flag(config, "norm_of_mean", false)) parts.pooled = Pooled::kNormOfMean;
  parts.patch_weight = weights.take("embeddings.patch_embeddings.weight", {shape.width, 3, shape.patch, shape.patch});
  parts.patch_bias = weights.take("embeddings.patch_embeddings.bias", {shape.width});
  parts.own = weights.take("embeddings.cls_token", {1, 1, shape.width});
  const at::Tensor registers = weights.take_if_there("embeddings.register_tokens", {1, -1, shape.width});
  if (registers.defined()) parts.own = at::cat({parts.own, registers}, 1);
  parts.positions = weights.take_if_there("embeddings.position_embeddings", {1, -1, shape.width});
  const std::string begin = weights.has("model.layer.0.norm1.weight") ? "model.layer." : "layer.";
  LayerNames names = kDino3;
  if (!weights.has(begin + "0" + names.scale1)) names.scale1 = names.scale2 = nullptr;
  for (TransformerLayer& layer : layers_of(weights, begin, names, shape)) {
    TurnedLayer one{std::move(layer), {}, {}, {}};
    const std::string at = begin + std::to_string(parts.layers.size());
    if (weights.has(at + ".mlp.gate_proj.weight"))
      one.gate = linear(weights, at + ".mlp.gate_proj", shape.width, shape.mlp);
    if (weights.has(at + ".attention.norm.weight"))
      one.seen = norm(weights, at + ".attention.norm", shape.width, shape.epsilon);
    if (weights.has(at + ".mlp.norm.weight")) one.inside = norm(weights, at + ".mlp.norm", shape.mlp, shape.epsilon);
    parts.layers.push_back(std::move(one));
  }
  parts.after = norm(weights, "norm", shape.width, shape.epsilon);
  weights.check_all_taken({"embeddings.mask_token", "classifier."});
  return std::make_unique<TurnedTransformer>(std::move(parts));
}

}  // namespace protocom::huggingface
