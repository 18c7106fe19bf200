#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "networks/huggingface/detail/layers.h"

/// Hiera (Ryali et al. 2023): attention within units of positions, then over all; queries of four positions are pooled.
namespace protocom::huggingface {
namespace {

constexpr int64_t kPooledPlaces = 4;  // 2 x 2

struct HieraLayer {
  Norm before, after;
  Linear qkv, projection, fc1, fc2;
  Linear widened;  // undefined: the width stays
  int64_t heads;
  int64_t unit;    // positions that attend to one another, after pooling; 0: all
  int64_t pooled;  // positions pooled into one: 1 or 4
};

/// Reorders positions [n, rows, columns, w] as in Hiera: those that are pooled together, `times` times over, are
/// `times` strides apart: [n, t, w].
at::Tensor unrolled(at::Tensor x, int64_t times) {
  const int64_t images = x.size(0), width = x.size(3), tokens = x.size(1) * x.size(2);
  for (int64_t i = 0; i < times; ++i)
    x = x.reshape({x.size(0), x.size(1) / 2, 2, x.size(2) / 2, 2, width}).permute({0, 2, 4, 1, 3, 5}).flatten(0, 2);
  return x.reshape({images, tokens, width});
}

/// Returns the maximum over `places` positions, which are t / places apart.
at::Tensor pooled_places(const at::Tensor& x, int64_t places) {
  return places == 1 ? x : at::amax(x.unflatten(1, at::IntArrayRef({places, x.size(1) / places})), 1);
}

/// Computes [n, t, in] -> [n, t / pooled, out].
at::Tensor attended_in_units(const HieraLayer& layer, const at::Tensor& x) {
  const int64_t images = x.size(0), tokens = x.size(1);
  const int64_t each = layer.unit == 0 ? tokens : layer.unit * layer.pooled;
  const int64_t units = tokens / each;
  const at::Tensor qkv = layer.qkv(x).unflatten(1, at::IntArrayRef({each, units})).transpose(1, 2).flatten(0, 1);
  const auto parts = qkv.chunk(3, -1);  // [n units, each, out]
  const at::Tensor seen = attention(pooled_places(parts[0], layer.pooled), parts[1], parts[2], layer.heads);
  const at::Tensor back = seen.unflatten(0, at::IntArrayRef({images, units})).transpose(1, 2).flatten(1, 2);
  return layer.projection(back);
}

at::Tensor run_hiera_layer(const HieraLayer& layer, Activation activation, const at::Tensor& x) {
  const at::Tensor normal = layer.before(x);
  const at::Tensor from = layer.widened.weight.defined() ? pooled_places(layer.widened(normal), layer.pooled)
                                                         : pooled_places(x, layer.pooled);
  const at::Tensor seen = from + attended_in_units(layer, normal);
  return seen + layer.fc2(activation(layer.fc1(layer.after(seen))));
}

class Hiera : public Network {
 public:
  struct Parts {
    at::Tensor patch_weight, patch_bias, positions;
    int64_t stride = 4, padding = 3;
    int64_t unit = 8;  // positions per side of a unit
    int64_t poolings = 0;
    std::vector<HieraLayer> layers;
    Activation activation = nullptr;
    Norm after;
  };
  explicit Hiera(Parts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] at::Tensor features(const at::Tensor& images) const override {
    return parts_.after(tokens(images).mean(1));
  }
  [[nodiscard]] at::Tensor maps(const at::Tensor& images) const override {
    const at::Tensor places = tokens(images);
    const int64_t rows = std::lround(std::sqrt(static_cast<double>(places.size(1))));
    return places.transpose(1, 2).reshape({places.size(0), places.size(2), rows, rows});
  }

 private:
  [[nodiscard]] at::Tensor tokens(const at::Tensor& images) const {
    at::Tensor x = at::conv2d(images, parts_.patch_weight, parts_.patch_bias, parts_.stride, parts_.padding);
    const int64_t rows = x.size(2), columns = x.size(3);
    if (rows != columns || rows % parts_.unit != 0)
      fail("maps of {}x{} places, expected a square of units of {}x{} places", columns, rows, parts_.unit, parts_.unit);
    x = x.flatten(2).transpose(1, 2) + positions_for(parts_.positions, 0, {rows, columns}, Stretch::kPlain);
    x = unrolled(x.unflatten(1, at::IntArrayRef({rows, columns})), parts_.poolings);
    for (const HieraLayer& layer : parts_.layers) x = run_hiera_layer(layer, parts_.activation, x);
    return x;
  }

  Parts parts_;
};

/// Returns the repeated number of a list like [2, 2].
int64_t square_of(const nlohmann::json& config, const char* name, int64_t usual, int64_t least) {
  const std::vector<int64_t> sizes = config_integers(config, name, {usual, usual}, least);
  if (sizes.size() != 2 || sizes[0] != sizes[1]) fail("config.json: '{}': expected two equal numbers", name);
  return sizes[0];
}

/// Reads the layers in order; the width is that of the last one read.
class HieraReader {
 public:
  HieraReader(Weights& weights, const nlohmann::json& config, int64_t width)
      : weights_(weights), width_(width), epsilon_(config_number(config, "layer_norm_eps", 1e-6)) {
    heads_ = config_integers(config, "num_heads", {1, 2, 4, 8}, 1);
    local_ = config_flags(config, "masked_unit_attention", {true, true, false, false});
    const int64_t unit = square_of(config, "masked_unit_size", 8, 1);
    places_ = unit * unit;
    poolings_ = config.contains("num_query_pool") ? config_integer(config, "num_query_pool", 3) : 3;
  }

  std::vector<HieraLayer> read(int64_t stages) {
    if (static_cast<size_t>(stages) > heads_.size() || static_cast<size_t>(stages) > local_.size() ||
        poolings_ != stages - 1)
      fail("config.json: num_heads, masked_unit_attention and num_query_pool do not fit {} stages: export it to ONNX",
           stages);
    std::vector<HieraLayer> layers;
    for (int64_t stage = 0; stage < stages; ++stage) {
      const std::string begin = "encoder.stages." + std::to_string(stage) + ".layers.";
      const int64_t count = weights_.count(begin, ".layernorm_before.weight");
      for (int64_t i = 0; i < count; ++i) layers.push_back(layer(begin + std::to_string(i), stage, i == 0));
      places_ /= kPooledPlaces;
    }
    return layers;
  }
  [[nodiscard]] int64_t width() const { return width_; }

 private:
  HieraLayer layer(const std::string& at, int64_t stage, bool first) {
    HieraLayer made;
    const auto index = static_cast<size_t>(stage);
    made.heads = heads_[index];
    made.pooled = first && stage > 0 ? kPooledPlaces : 1;
    const bool local = local_[index] || (first && stage > 0 && local_[index - 1]);
    made.unit = local ? places_ : 0;
    made.before = norm(weights_, at + ".layernorm_before", width_, epsilon_);
    const at::Tensor qkv = weights_.take(at + ".attn.qkv.weight", {-1, width_});
    const int64_t out = qkv.size(0) / 3;
    if (qkv.size(0) != 3 * out || out % made.heads != 0 || (local && places_ == 0))
      fail("tensor '{}.attn.qkv.weight' is [{}, {}], expected three times the width of {} heads", at, qkv.size(0),
           width_, made.heads);
    made.qkv = {qkv, weights_.take(at + ".attn.qkv.bias", {3 * out})};
    made.projection = linear(weights_, at + ".attn.proj", out, out);
    if (weights_.has(at + ".proj.weight"))
      made.widened = linear(weights_, at + ".proj", width_, out);
    else if (out != width_)
      fail("missing tensor '{}.proj.weight' of the family {}", at, weights_.family());
    width_ = out;
    made.after = norm(weights_, at + ".layernorm_after", out, epsilon_);
    const at::Tensor inside = weights_.take(at + ".mlp.fc1.weight", {-1, out});
    made.fc1 = {inside, weights_.take(at + ".mlp.fc1.bias", {inside.size(0)})};
    made.fc2 = linear(weights_, at + ".mlp.fc2", inside.size(0), out);
    return made;
  }

  Weights& weights_;
  int64_t width_;
  double epsilon_;
  std::vector<int64_t> heads_;
  std::vector<bool> local_;
  int64_t places_ = 64;
  int64_t poolings_ = 3;
};

}  // namespace

std::unique_ptr<Network> make_hiera(const nlohmann::json& config, const Tensors& tensors) {
  const std::string patches = "embeddings.patch_embeddings.projection";
  Weights weights(tensors, "Hiera", patches + ".weight");
  if (square_of(config, "query_stride", 2, 1) != 2)
    fail("config.json: 'query_stride': expected [2, 2]: export it to ONNX");
  Hiera::Parts parts;
  parts.activation = activation_of(config_text(config, "hidden_act", "gelu"));
  const int64_t patch = square_of(config, "patch_size", 7, 1);
  parts.patch_weight = weights.take(patches + ".weight", {-1, 3, patch, patch});
  const int64_t width = parts.patch_weight.size(0);
  parts.patch_bias = weights.take(patches + ".bias", {width});
  parts.positions = weights.take("embeddings.position_embeddings", {1, -1, width});
  parts.stride = square_of(config, "patch_stride", 4, 1);
  parts.padding = square_of(config, "patch_padding", 3, 0);
  parts.unit = square_of(config, "masked_unit_size", 8, 1);
  const int64_t stages = weights.count("encoder.stages.", ".layers.0.layernorm_before.weight");
  if (stages < 1 || stages > 8 || parts.unit % (int64_t{1} << (stages - 1)) != 0)
    fail("config.json: units of {}x{} places do not fit {} stages", parts.unit, parts.unit, stages);
  parts.poolings = stages - 1;
  HieraReader reader(weights, config, width);
  parts.layers = reader.read(stages);
  parts.after = norm(weights, "pooler.layernorm", reader.width(), config_number(config, "layer_norm_eps", 1e-6));
  weights.check_all_taken({"classifier.", "decoder.", "multiscale_fusion."});
  return std::make_unique<Hiera>(std::move(parts));
}

}  // namespace protocom::huggingface
