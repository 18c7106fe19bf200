#include "networks/huggingface/detail/layers.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"

namespace protocom::huggingface {
namespace {

constexpr int64_t kMostLogits = int64_t{1} << 28;  // 1 GiB; ViT-7B of 518 pixels needs 2^26
constexpr int64_t kMostLayers = 512;

at::Tensor attended(const TransformerLayer& layer, const TransformerShape& shape, const at::Tensor& x,
                    const at::Tensor& bias) {
  const auto qkv = layer.qkv(x).chunk(3, -1);
  return layer.projection(attention(qkv[0], qkv[1], qkv[2], shape.heads, bias));
}

/// Applies the activation between the two layers of an MLP.
at::Tensor inside(const TransformerShape& shape, const at::Tensor& x) {
  if (!shape.gated) return shape.activation(x);
  const auto halves = x.chunk(2, -1);
  return shape.activation(halves[0]) * halves[1];
}

}  // namespace

at::Tensor scaled(const at::Tensor& branch, const at::Tensor& scale) {
  return scale.defined() ? branch * scale : branch;
}

at::Tensor Linear::operator()(const at::Tensor& x) const { return at::linear(x, weight, bias); }

at::Tensor Norm::operator()(const at::Tensor& x) const {
  return at::layer_norm(x.to(at::kFloat), {weight.size(0)}, weight, bias, epsilon, /*cudnn_enable=*/false);
}

Linear linear(Weights& weights, const std::string& name, int64_t in, int64_t out) {
  return {weights.take(name + ".weight", {out, in}), weights.take(name + ".bias", {out})};
}

Norm norm(Weights& weights, const std::string& name, int64_t width, double epsilon) {
  return {weights.take(name + ".weight", {width}), weights.take(name + ".bias", {width}), epsilon};
}

Linear stacked(const Linear& a, const Linear& b, const Linear& c) {
  return {at::cat({a.weight, b.weight, c.weight}), at::cat({a.bias, b.bias, c.bias})};
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads,
                     const at::Tensor& bias) {
  const auto split = [&](const at::Tensor& x) {
    return x.unflatten(-1, at::IntArrayRef({heads, x.size(-1) / heads})).transpose(1, 2);
  };
  const int64_t width = q.size(-1) / heads;
  if (heads > kMostLogits / q.size(1) / k.size(1))
    fail("attention of {} over {} tokens by {} heads takes more than {} values for an image", q.size(1), k.size(1),
         heads, kMostLogits);
  const at::Tensor query = split(q) / std::sqrt(static_cast<double>(width));
  at::Tensor logits = at::matmul(query, split(k).transpose(-2, -1));
  if (bias.defined() && bias.dim() == 4 && bias.size(0) > 1) {  // each window of an image has a bias of its own
    const int64_t windows = bias.size(0);
    logits = (logits.unflatten(0, at::IntArrayRef({logits.size(0) / windows, windows})) + bias).flatten(0, 1);
  } else if (bias.defined()) {
    logits += bias;
  }
  return at::matmul(at::softmax(logits, -1), split(v)).transpose(1, 2).flatten(2);
}

at::Tensor positions_for(const at::Tensor& positions, int64_t own, at::IntArrayRef grid, Stretch stretch) {
  const int64_t places = positions.size(1) - own;
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(places))));
  if (side * side != places) fail("{} positions, expected a square number", places);
  if (grid[0] == side && grid[1] == side) return positions;
  const at::Tensor old = positions.narrow(1, own, places).view({1, side, side, -1}).permute({0, 3, 1, 2});
  at::Tensor resized;
  if (stretch == Stretch::kAntialiased) {
    resized = at::_upsample_bicubic2d_aa(old, grid, /*align_corners=*/false);
  } else if (stretch == Stretch::kByFactor) {
    constexpr double kOffset = 0.1;
    const auto factor = [&](int64_t size) { return (static_cast<double>(size) + kOffset) / static_cast<double>(side); };
    resized = at::upsample_bicubic2d(old, grid, /*align_corners=*/false, factor(grid[0]), factor(grid[1]));
  } else {
    resized = at::upsample_bicubic2d(old, grid, /*align_corners=*/false);
  }
  return at::cat({positions.narrow(1, 0, own), resized.flatten(2).transpose(1, 2)}, 1);
}

TransformerShape shape_of(const nlohmann::json& config, const TransformerShape& usual, const char* activation) {
  TransformerShape shape = usual;
  shape.width = config_integer(config, "hidden_size", usual.width);
  shape.heads = config_integer(config, "num_attention_heads", usual.heads);
  shape.mlp = config_integer(config, "intermediate_size", usual.mlp);
  shape.patch = config_integer(config, "patch_size", usual.patch);
  shape.epsilon = config_number(config, "layer_norm_eps", usual.epsilon);
  shape.activation = activation_of(config_text(config, "hidden_act", activation));
  if (shape.width % shape.heads != 0)
    fail("config.json: {} heads do not divide the width of {}", shape.heads, shape.width);
  return shape;
}

std::vector<TransformerLayer> layers_of(Weights& weights, const std::string& begin, const LayerNames& names,
                                        const TransformerShape& shape) {
  std::vector<TransformerLayer> layers;
  const int64_t count = weights.count(begin, std::string(names.norm1) + ".weight");
  const int64_t width = shape.width;
  if (count > kMostLayers)
    fail("a network of the family {} with {} layers, expected at most {}", weights.family(), count, kMostLayers);
  for (int64_t i = 0; i < count; ++i) {
    const std::string at = begin + std::to_string(i);
    TransformerLayer layer;
    layer.norm1 = norm(weights, at + names.norm1, width, shape.epsilon);
    layer.norm2 = norm(weights, at + names.norm2, width, shape.epsilon);
    layer.qkv = stacked(linear(weights, at + names.query, width, width), linear(weights, at + names.key, width, width),
                        linear(weights, at + names.value, width, width));
    layer.projection = linear(weights, at + names.projection, width, width);
    layer.fc1 = linear(weights, at + names.fc1, width, shape.gated ? 2 * shape.mlp : shape.mlp);
    layer.fc2 = linear(weights, at + names.fc2, shape.mlp, width);
    if (names.scale1 != nullptr) {
      layer.scale1 = weights.take(at + names.scale1, {width});
      layer.scale2 = weights.take(at + names.scale2, {width});
    }
    layers.push_back(std::move(layer));
  }
  if (layers.empty()) fail("missing tensor '{}0{}.weight' of the family {}", begin, names.norm1, weights.family());
  return layers;
}

at::Tensor run_layer(const TransformerLayer& layer, const TransformerShape& shape, at::Tensor x,
                     const at::Tensor& bias) {
  x = x + scaled(attended(layer, shape, layer.norm1(x), bias), layer.scale1);
  return x + scaled(layer.fc2(inside(shape, layer.fc1(layer.norm2(x)))), layer.scale2);
}

at::Tensor run_layer_with_norms_behind(const TransformerLayer& layer, const TransformerShape& shape, at::Tensor x,
                                       const at::Tensor& bias) {
  x = layer.norm1(x + attended(layer, shape, x, bias));
  return layer.norm2(x + layer.fc2(shape.activation(layer.fc1(x))));
}

}  // namespace protocom::huggingface
