#include <ATen/ATen.h>

#include <cmath>

#include "nn/huggingface/network.h"
#include "nn/huggingface/weights.h"
#include "protocom/core/error.h"

/// Vision transformers: ViT and DeiT, DINOv2, CLIP, SigLIP. They share their layers and differ in names, in what is
/// around the layers, and in what of the tokens is the image's feature.
namespace protocom::huggingface {
namespace {

struct Linear {
  at::Tensor weight, bias;
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const { return at::linear(x, weight, bias); }
};

struct Norm {
  at::Tensor weight, bias;
  double epsilon = 1e-6;
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const {
    return at::layer_norm(x.to(at::kFloat), {weight.size(0)}, weight, bias, epsilon, /*cudnn_enable=*/false);
  }
};

Linear linear(Weights& weights, const std::string& name, int64_t in, int64_t out) {
  return {weights.take(name + ".weight", {out, in}), weights.take(name + ".bias", {out})};
}

Norm norm(Weights& weights, const std::string& name, int64_t width, double epsilon) {
  return {weights.take(name + ".weight", {width}), weights.take(name + ".bias", {width}), epsilon};
}

/// Query, key and value behind one another: [3 width, width].
Linear stacked(const Linear& a, const Linear& b, const Linear& c) {
  return {at::cat({a.weight, b.weight, c.weight}), at::cat({a.bias, b.bias, c.bias})};
}

/// softmax(Q K' / sqrt(width of a head)) V over heads; q [n, t, w], k and v [n, s, w] -> [n, t, w].
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads) {
  const auto split = [&](const at::Tensor& x) {
    return x.unflatten(-1, at::IntArrayRef({heads, x.size(-1) / heads})).transpose(1, 2);
  };
  const int64_t width = q.size(-1) / heads;
  const at::Tensor query = split(q) / std::sqrt(static_cast<double>(width));
  const at::Tensor shares = at::softmax(at::matmul(query, split(k).transpose(-2, -1)), -1);
  return at::matmul(shares, split(v)).transpose(1, 2).flatten(2);
}

/// What a family calls the parts of a layer.
struct LayerNames {
  const char *query, *key, *value, *projection, *norm1, *norm2, *fc1, *fc2;
  const char *scale1 = nullptr, *scale2 = nullptr;
};

constexpr LayerNames kVit = {
    ".attention.attention.query", ".attention.attention.key", ".attention.attention.value", ".attention.output.dense",
    ".layernorm_before",          ".layernorm_after",         ".intermediate.dense",        ".output.dense"};
constexpr LayerNames kDino = {".attention.attention.query",
                              ".attention.attention.key",
                              ".attention.attention.value",
                              ".attention.output.dense",
                              ".norm1",
                              ".norm2",
                              ".mlp.fc1",
                              ".mlp.fc2",
                              ".layer_scale1.lambda1",
                              ".layer_scale2.lambda1"};
constexpr LayerNames kClip = {".self_attn.q_proj", ".self_attn.k_proj", ".self_attn.v_proj", ".self_attn.out_proj",
                              ".layer_norm1",      ".layer_norm2",      ".mlp.fc1",          ".mlp.fc2"};

/// Norms before the branches.
struct TransformerLayer {
  Norm norm1, norm2;
  Linear qkv, projection, fc1, fc2;
  at::Tensor scale1, scale2;  // undefined: none
};

/// What all families say of their transformer.
struct TransformerShape {
  int64_t width, heads, mlp, patch;
  double epsilon;
  Activation activation;
};

TransformerShape shape_of(const nlohmann::json& config, const TransformerShape& usual, const char* activation) {
  TransformerShape shape = usual;
  shape.width = whole_of(config, "hidden_size", usual.width);
  shape.heads = whole_of(config, "num_attention_heads", usual.heads);
  shape.mlp = whole_of(config, "intermediate_size", usual.mlp);
  shape.patch = whole_of(config, "patch_size", usual.patch);
  shape.epsilon = number_of(config, "layer_norm_eps", usual.epsilon);
  shape.activation = activation_of(text_of(config, "hidden_act", activation));
  if (shape.width % shape.heads != 0)
    fail("config.json: {} heads do not share a width of {}", shape.heads, shape.width);
  return shape;
}

std::vector<TransformerLayer> layers_of(Weights& weights, const std::string& begin, const LayerNames& names,
                                        const TransformerShape& shape) {
  std::vector<TransformerLayer> layers;
  const int64_t count = weights.count(begin, std::string(names.norm1) + ".weight");
  const int64_t width = shape.width;
  for (int64_t i = 0; i < count; ++i) {
    const std::string at = begin + std::to_string(i);
    TransformerLayer layer;
    layer.norm1 = norm(weights, at + names.norm1, width, shape.epsilon);
    layer.norm2 = norm(weights, at + names.norm2, width, shape.epsilon);
    layer.qkv = stacked(linear(weights, at + names.query, width, width), linear(weights, at + names.key, width, width),
                        linear(weights, at + names.value, width, width));
    layer.projection = linear(weights, at + names.projection, width, width);
    layer.fc1 = linear(weights, at + names.fc1, width, shape.mlp);
    layer.fc2 = linear(weights, at + names.fc2, shape.mlp, width);
    if (names.scale1 != nullptr) {
      layer.scale1 = weights.take(at + names.scale1, {width});
      layer.scale2 = weights.take(at + names.scale2, {width});
    }
    layers.push_back(std::move(layer));
  }
  if (layers.empty()) fail("there is no tensor '{}0{}.weight' of the family {}", begin, names.norm1, weights.family());
  return layers;
}

/// What stands around the layers; undefined tensors are not there.
struct Tower {
  TransformerShape shape;
  at::Tensor patch_weight, patch_bias;  // [w, 3, p, p], [w]
  at::Tensor class_token;               // [1, 1, w]
  at::Tensor registers;                 // [1, r, w]
  at::Tensor positions;                 // [1, t, w]
  bool stretched = false;               // for other grids as DINOv2's own code does, see VisionTransformerShape
  bool antialiased = false;             // the same with antialiasing
  Norm before;                          // after the embeddings: CLIP's
  std::vector<TransformerLayer> layers;
  Norm after;

  [[nodiscard]] int64_t extra() const {
    return (class_token.defined() ? 1 : 0) + (registers.defined() ? registers.size(1) : 0);
  }
};

at::Tensor positions_for(const Tower& tower, int64_t rows, int64_t columns) {
  const int64_t own = tower.class_token.defined() ? 1 : 0;
  const int64_t places = tower.positions.size(1) - own;
  const auto grid = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(places))));
  if (grid * grid != places) fail("positions are of {} places, expected a square number", places);
  if (rows == grid && columns == grid) return tower.positions;
  const at::Tensor old = tower.positions.narrow(1, own, places).view({1, grid, grid, -1}).permute({0, 3, 1, 2});
  constexpr double kStretchOffset = 0.1;
  at::Tensor resized;
  if (tower.antialiased) {
    resized = at::_upsample_bicubic2d_aa(old, {rows, columns}, /*align_corners=*/false);
  } else if (tower.stretched) {
    const auto factor = [&](int64_t side) {
      return (static_cast<double>(side) + kStretchOffset) / static_cast<double>(grid);
    };
    resized = at::upsample_bicubic2d(old, {rows, columns}, /*align_corners=*/false, factor(rows), factor(columns));
  } else {
    resized = at::upsample_bicubic2d(old, {rows, columns}, /*align_corners=*/false);
  }
  return at::cat({tower.positions.narrow(1, 0, own), resized.flatten(2).transpose(1, 2)}, 1);
}

/// [n, extra + rows * columns, w], before the last norm.
at::Tensor tokens_of(const Tower& tower, const at::Tensor& images) {
  const int64_t patch = tower.shape.patch;
  const int64_t rows = images.size(2) / patch;
  const int64_t columns = images.size(3) / patch;
  if (rows < 1 || columns < 1)
    fail("images of {}x{} pixels have no patch of {}", images.size(3), images.size(2), patch);
  const int64_t n = images.size(0);
  at::Tensor x = at::conv2d(images, tower.patch_weight, tower.patch_bias, patch).flatten(2).transpose(1, 2);
  if (tower.class_token.defined()) x = at::cat({tower.class_token.expand({n, -1, -1}), x}, 1);
  x = x + positions_for(tower, rows, columns);
  if (tower.registers.defined())
    x = at::cat({x.narrow(1, 0, 1), tower.registers.expand({n, -1, -1}), x.narrow(1, 1, rows * columns)}, 1);
  if (tower.before.weight.defined()) x = tower.before(x);
  const auto scaled = [](const at::Tensor& branch, const at::Tensor& scale) {
    return scale.defined() ? branch * scale : branch;
  };
  for (const TransformerLayer& layer : tower.layers) {
    const auto qkv = layer.qkv(layer.norm1(x)).chunk(3, -1);
    x = x + scaled(layer.projection(attention(qkv[0], qkv[1], qkv[2], tower.shape.heads)), layer.scale1);
    x = x + scaled(layer.fc2(tower.shape.activation(layer.fc1(layer.norm2(x)))), layer.scale2);
  }
  return x;
}

/// How a tower's tokens become a feature.
class Transformer : public Network {
 public:
  explicit Transformer(Tower tower) : tower_(std::move(tower)) {}

  [[nodiscard]] at::Tensor features(const at::Tensor& images) const override {
    return pooled(tokens_of(tower_, images));
  }
  [[nodiscard]] at::Tensor maps(const at::Tensor& images) const override {
    const at::Tensor patches = tower_.after(tokens_of(tower_, images)).slice(1, tower_.extra());
    return patches.transpose(1, 2).reshape(
        {images.size(0), tower_.shape.width, images.size(2) / tower_.shape.patch, images.size(3) / tower_.shape.patch});
  }

 protected:
  /// The class token after the last norm.
  [[nodiscard]] virtual at::Tensor pooled(const at::Tensor& tokens) const { return tower_.after(tokens.select(1, 0)); }
  [[nodiscard]] const Tower& tower() const { return tower_; }

 private:
  Tower tower_;
};

/// CLIP's, projected into the space of texts where the checkpoint has that.
class ClipTransformer : public Transformer {
 public:
  ClipTransformer(Tower tower, at::Tensor projection)
      : Transformer(std::move(tower)), projection_(std::move(projection)) {}

 protected:
  [[nodiscard]] at::Tensor pooled(const at::Tensor& tokens) const override {
    const at::Tensor feature = Transformer::pooled(tokens);
    return projection_.defined() ? at::linear(feature, projection_) : feature;
  }

 private:
  at::Tensor projection_;
};

/// SigLIP's: a learned query attends to all tokens.
struct AttentionPool {
  at::Tensor probe;  // [1, 1, w]
  Linear query, key, value, projection, fc1, fc2;
  Norm norm;
};

class SiglipTransformer : public Transformer {
 public:
  SiglipTransformer(Tower tower, AttentionPool pool) : Transformer(std::move(tower)), pool_(std::move(pool)) {}

 protected:
  [[nodiscard]] at::Tensor pooled(const at::Tensor& tokens) const override {
    const at::Tensor x = tower().after(tokens);
    const at::Tensor query = pool_.query(pool_.probe).expand({x.size(0), -1, -1});
    const at::Tensor seen = pool_.projection(attention(query, pool_.key(x), pool_.value(x), tower().shape.heads));
    return (seen + pool_.fc2(tower().shape.activation(pool_.fc1(pool_.norm(seen))))).select(1, 0);
  }

 private:
  AttentionPool pool_;
};

/// Patches and positions under the names of ViT and DINOv2.
Tower vit_tower(Weights& weights, const TransformerShape& shape, const LayerNames& names) {
  Tower tower;
  tower.shape = shape;
  const std::string patches = "embeddings.patch_embeddings.projection";
  tower.patch_weight = weights.take(patches + ".weight", {shape.width, 3, shape.patch, shape.patch});
  tower.patch_bias = weights.take(patches + ".bias", {shape.width});
  tower.class_token = weights.take("embeddings.cls_token", {1, 1, shape.width});
  tower.positions = weights.take("embeddings.position_embeddings", {1, -1, shape.width});
  tower.layers = layers_of(weights, "encoder.layer.", names, shape);
  tower.after = norm(weights, "layernorm", shape.width, shape.epsilon);
  return tower;
}

/// The same under the names of CLIP and SigLIP.
Tower clip_tower(Weights& weights, const TransformerShape& shape) {
  Tower tower;
  tower.shape = shape;
  tower.patch_weight = weights.take("embeddings.patch_embedding.weight", {shape.width, 3, shape.patch, shape.patch});
  tower.patch_bias = weights.take_if_there("embeddings.patch_embedding.bias", {shape.width});
  tower.positions = weights.take("embeddings.position_embedding.weight", {-1, shape.width}).unsqueeze(0);
  tower.layers = layers_of(weights, "encoder.layers.", kClip, shape);
  tower.after = norm(weights, "post_layernorm", shape.width, shape.epsilon);
  return tower;
}

constexpr TransformerShape kBase = {768, 12, 3072, 16, 1e-12, nullptr};

}  // namespace

std::unique_ptr<Network> make_vit(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "ViT", "embeddings.cls_token");
  if (weights.has("embeddings.distillation_token"))
    fail("'{}embeddings.distillation_token' is of a distilled DeiT: make it an ONNX file", weights.prefix());
  Tower tower = vit_tower(weights, shape_of(config, kBase, "gelu"), kVit);
  weights.check_all_taken({"pooler.", "embeddings.mask_token", "classifier.", "decoder."});
  return std::make_unique<Transformer>(std::move(tower));
}

std::unique_ptr<Network> make_dinov2(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "DINOv2", "embeddings.cls_token");
  TransformerShape usual = kBase;
  usual.epsilon = 1e-6;
  TransformerShape shape = shape_of(config, usual, "gelu");
  shape.mlp = shape.width * whole_of(config, "mlp_ratio", 4);
  if (truth_of(config, "use_swiglu_ffn", false))
    fail("config.json has use_swiglu_ffn, the gated layers of the giant DINOv2: make it an ONNX file");
  Tower tower = vit_tower(weights, shape, kDino);
  tower.registers = weights.take_if_there("embeddings.register_tokens", {1, -1, shape.width});
  tower.antialiased = tower.registers.defined();
  tower.stretched = !tower.antialiased;
  weights.check_all_taken({"embeddings.mask_token", "classifier."});
  return std::make_unique<Transformer>(std::move(tower));
}

std::unique_ptr<Network> make_clip(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "CLIP", "embeddings.class_embedding");
  TransformerShape usual = kBase;
  usual.patch = 32;
  usual.epsilon = 1e-5;
  const TransformerShape shape = shape_of(config, usual, "quick_gelu");
  Tower tower = clip_tower(weights, shape);
  tower.class_token = weights.take("embeddings.class_embedding", {shape.width}).view({1, 1, -1});
  tower.before = norm(weights, "pre_layrnorm", shape.width, shape.epsilon);  // as the checkpoints spell it
  weights.check_all_taken({});
  at::Tensor projection;
  if (tensors.count("visual_projection.weight") > 0)
    projection =
        Weights(tensors, "CLIP", "visual_projection.weight").take("visual_projection.weight", {-1, shape.width});
  return std::make_unique<ClipTransformer>(std::move(tower), projection);
}

std::unique_ptr<Network> make_siglip(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "SigLIP", "head.probe");
  TransformerShape usual = kBase;
  usual.epsilon = 1e-6;
  const TransformerShape shape = shape_of(config, usual, "gelu_pytorch_tanh");
  const int64_t width = shape.width;
  Tower tower = clip_tower(weights, shape);
  AttentionPool pool;
  pool.probe = weights.take("head.probe", {1, 1, width});
  const auto matrices = weights.take("head.attention.in_proj_weight", {3 * width, width}).chunk(3);
  const auto biases = weights.take("head.attention.in_proj_bias", {3 * width}).chunk(3);
  pool.query = {matrices[0], biases[0]};
  pool.key = {matrices[1], biases[1]};
  pool.value = {matrices[2], biases[2]};
  pool.projection = linear(weights, "head.attention.out_proj", width, width);
  pool.norm = norm(weights, "head.layernorm", width, shape.epsilon);
  pool.fc1 = linear(weights, "head.mlp.fc1", width, shape.mlp);
  pool.fc2 = linear(weights, "head.mlp.fc2", shape.mlp, width);
  weights.check_all_taken({});
  return std::make_unique<SiglipTransformer>(std::move(tower), std::move(pool));
}

}  // namespace protocom::huggingface
