#include <ATen/ATen.h>

#include "base/error.h"
#include "base/text.h"
#include "networks/huggingface/detail/layers.h"
#include "networks/huggingface/detail/relative_bias.h"

/// Vision transformers: ViT and DeiT, BEiT, DINOv2, CLIP, SigLIP. They share their layers and differ in names, in the
/// parts around the layers, and in which tokens make the image's feature.
namespace protocom::huggingface {
namespace {

constexpr LayerNames kVit = {
    ".attention.attention.query", ".attention.attention.key", ".attention.attention.value", ".attention.output.dense",
    ".layernorm_before",          ".layernorm_after",         ".intermediate.dense",        ".output.dense"};
constexpr LayerNames kBeit = {".attention.attention.query",
                              ".attention.attention.key",
                              ".attention.attention.value",
                              ".attention.output.dense",
                              ".layernorm_before",
                              ".layernorm_after",
                              ".intermediate.dense",
                              ".output.dense",
                              ".lambda_1",
                              ".lambda_2"};
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

/// Everything but the layers; undefined tensors are absent.
struct Tower {
  TransformerShape shape;
  at::Tensor patch_weight, patch_bias;  // [w, 3, p, p], [w]
  at::Tensor class_token;               // [1, 1, w], or [1, 2, w] for a distilled DeiT
  at::Tensor registers;                 // [1, r, w]
  at::Tensor positions;                 // [1, t, w]
  Stretch stretch = Stretch::kPlain;    // for positions of other grids
  Norm before;                          // after the embeddings, in CLIP
  std::vector<TransformerLayer> layers;
  std::vector<at::Tensor> biases;  // [heads, t, t], position biases of the layers' attention, in BEiT
  Norm after;

  [[nodiscard]] int64_t own() const { return class_token.defined() ? class_token.size(1) : 0; }
  [[nodiscard]] int64_t extra() const { return own() + (registers.defined() ? registers.size(1) : 0); }
};

/// Returns tokens [n, extra + rows * columns, w], before the last norm.
at::Tensor tokens_of(const Tower& tower, const at::Tensor& images) {
  const int64_t patch = tower.shape.patch;
  const int64_t rows = images.size(2) / patch;
  const int64_t columns = images.size(3) / patch;
  if (rows < 1 || columns < 1)
    fail("images of {}x{} pixels have no patch of {}", images.size(3), images.size(2), patch);
  const int64_t n = images.size(0);
  at::Tensor x = at::conv2d(images, tower.patch_weight, tower.patch_bias, patch).flatten(2).transpose(1, 2);
  if (tower.class_token.defined()) x = at::cat({tower.class_token.expand({n, -1, -1}), x}, 1);
  if (tower.positions.defined()) x = x + positions_for(tower.positions, tower.own(), {rows, columns}, tower.stretch);
  if (tower.registers.defined())
    x = at::cat({x.narrow(1, 0, 1), tower.registers.expand({n, -1, -1}), x.narrow(1, 1, rows * columns)}, 1);
  if (tower.before.weight.defined()) x = tower.before(x);
  if (!tower.biases.empty() && tower.biases.front().size(1) != x.size(1))
    fail("images of {}x{} pixels have {} patches, expected {}", images.size(3), images.size(2), rows * columns,
         tower.biases.front().size(1) - tower.extra());
  for (size_t i = 0; i < tower.layers.size(); ++i)
    x = run_layer(tower.layers[i], tower.shape, x, tower.biases.empty() ? at::Tensor() : tower.biases[i]);
  return x;
}

/// A tower, with the pooling of its tokens into a feature.
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
  /// Returns the class token after the last norm.
  [[nodiscard]] virtual at::Tensor pooled(const at::Tensor& tokens) const { return tower_.after(tokens.select(1, 0)); }
  [[nodiscard]] const Tower& tower() const { return tower_; }

 private:
  Tower tower_;
};

/// CLIP's, projected into the space of texts if the checkpoint has the projection.
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

/// timm's distilled DeiT: the mean of the class and distillation tokens.
class OwnTokensTransformer : public Transformer {
 public:
  using Transformer::Transformer;

 protected:
  [[nodiscard]] at::Tensor pooled(const at::Tensor& tokens) const override {
    return tower().after(tokens.slice(1, 0, tower().own())).mean(1);
  }
};

/// BEiT's: the feature is the mean of the patches, with a norm of its own.
class MeanTransformer : public Transformer {
 public:
  MeanTransformer(Tower tower, Norm norm) : Transformer(std::move(tower)), norm_(std::move(norm)) {}

  [[nodiscard]] at::Tensor maps(const at::Tensor& images) const override {
    const at::Tensor patches = tokens_of(tower(), images).slice(1, tower().extra());
    const int64_t patch = tower().shape.patch;
    return patches.transpose(1, 2).reshape(
        {images.size(0), tower().shape.width, images.size(2) / patch, images.size(3) / patch});
  }

 protected:
  [[nodiscard]] at::Tensor pooled(const at::Tensor& tokens) const override {
    return norm_(tokens.slice(1, tower().extra()).mean(1));
  }

 private:
  Norm norm_;
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

/// Reads patches and positions under the names of ViT and DINOv2.
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

/// Reads them under the names of CLIP and SigLIP.
Tower clip_tower(Weights& weights, const TransformerShape& shape) {
  Tower tower;
  tower.shape = shape;
  tower.patch_weight = weights.take("embeddings.patch_embedding.weight", {shape.width, 3, shape.patch, shape.patch});
  tower.patch_bias = weights.take_if_there("embeddings.patch_embedding.bias", {shape.width});
  tower.positions = weights.take("embeddings.position_embedding.weight", {-1, shape.width}).unsqueeze(0);
  tower.layers = layers_of(weights, "encoder.layers.", kClipLayers, shape);
  tower.after = norm(weights, "post_layernorm", shape.width, shape.epsilon);
  return tower;
}

/// Reads the resizing; timm's and open_clip's positions are antialiased (translated.h).
Stretch read_stretch(const nlohmann::json& config, Stretch usual) {
  return config_flag(config, "antialiased_positions", false) ? Stretch::kAntialiased : usual;
}

constexpr TransformerShape kBase = {768, 12, 3072, 16, 1e-12, nullptr};

}  // namespace

std::unique_ptr<Network> make_vit(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "ViT", "embeddings.cls_token");
  Tower tower = vit_tower(weights, shape_of(config, kBase, "gelu"), kVit);
  const at::Tensor second = weights.take_if_there("embeddings.distillation_token", {1, 1, tower.shape.width});
  if (second.defined()) tower.class_token = at::cat({tower.class_token, second}, 1);
  weights.check_all_taken(
      {"pooler.", "embeddings.mask_token", "classifier.", "cls_classifier.", "distillation_classifier.", "decoder."});
  if (config_flag(config, "mean_of_own", false)) return std::make_unique<OwnTokensTransformer>(std::move(tower));
  return std::make_unique<Transformer>(std::move(tower));
}

std::unique_ptr<Network> make_beit(const nlohmann::json& config, const Tensors& given) {
  const Tensors tensors = with_zero_biases(given, "attention.key.weight");
  Weights weights(tensors, "BEiT", "embeddings.cls_token");
  Tower tower;
  tower.shape = shape_of(config, kBase, "gelu");
  const int64_t width = tower.shape.width;
  const std::string patches = "embeddings.patch_embeddings.projection";
  tower.patch_weight = weights.take(patches + ".weight", {width, 3, tower.shape.patch, tower.shape.patch});
  tower.patch_bias = weights.take(patches + ".bias", {width});
  tower.class_token = weights.take("embeddings.cls_token", {1, 1, width});
  tower.positions = weights.take_if_there("embeddings.position_embeddings", {1, -1, width});
  LayerNames names = kBeit;
  if (!weights.has("encoder.layer.0.lambda_1")) names.scale1 = names.scale2 = nullptr;
  tower.layers = layers_of(weights, "encoder.layer.", names, tower.shape);
  const std::string table = "relative_position_bias.relative_position_bias_table";
  const bool shared = weights.has("encoder." + table);
  RelativeBiases biases(weights);
  for (size_t i = 0; i < tower.layers.size(); ++i) {
    const std::string own = "encoder.layer." + std::to_string(i) + ".attention.attention." + table;
    if (shared && i > 0)
      tower.biases.push_back(tower.biases.front());
    else if (shared || weights.has(own))
      tower.biases.push_back(biases.take(shared ? "encoder." + table : own, /*class_token=*/true));
  }
  for (const at::Tensor& bias : tower.biases) {
    if (bias.size(0) != tower.shape.heads)
      fail("'{}' has {} heads, expected {}", table, bias.size(0), tower.shape.heads);
  }
  if (!tower.biases.empty() && tower.biases.size() != tower.layers.size())
    fail("missing tensor '{}' of some layers of the family BEiT", table);
  const bool mean = config_flag(config, "use_mean_pooling", true);
  Norm last = norm(weights, mean ? "pooler.layernorm" : "layernorm", width, tower.shape.epsilon);
  weights.check_all_taken({"embeddings.mask_token", "classifier."});
  if (mean) return std::make_unique<MeanTransformer>(std::move(tower), std::move(last));
  tower.after = std::move(last);
  return std::make_unique<Transformer>(std::move(tower));
}

std::unique_ptr<Network> make_dinov2(const nlohmann::json& config, const Tensors& tensors) {
  Weights weights(tensors, "DINOv2", "embeddings.cls_token");
  TransformerShape usual = kBase;
  usual.epsilon = 1e-6;
  TransformerShape shape = shape_of(config, usual, "gelu");
  shape.mlp = shape.width * config_integer(config, "mlp_ratio", 4);
  LayerNames names = kDino;
  if (config_flag(config, "use_swiglu_ffn", false)) {  // the giant model
    shape.gated = true;
    shape.activation = activation_of("silu");
    shape.mlp = config_integer(config, "gated_size", (shape.mlp * 2 / 3 + 7) / 8 * 8);
    names.fc1 = ".mlp.weights_in";
    names.fc2 = ".mlp.weights_out";
  }
  Tower tower = vit_tower(weights, shape, names);
  tower.registers = weights.take_if_there("embeddings.register_tokens", {1, -1, shape.width});
  tower.stretch = tower.registers.defined() ? Stretch::kAntialiased : read_stretch(config, Stretch::kByFactor);
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
  tower.stretch = read_stretch(config, Stretch::kPlain);
  tower.before = norm(weights, "pre_layrnorm", shape.width, shape.epsilon);  // spelt so in the checkpoints
  weights.check_all_taken({"visual_projection."});  // below: beside the tower, or among its tensors
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
  tower.stretch = read_stretch(config, Stretch::kPlain);
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
