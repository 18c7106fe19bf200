#include "networks/detail/vision_transformer.h"

#include <fmt/format.h>

#include <cinttypes>

#include "base/error.h"
#include "networks/huggingface/detail/layers.h"

namespace protocom {
namespace {

constexpr int64_t kHeadWidth = 64;
constexpr double kEpsilon = 1e-6;

torch::nn::LayerNorm layer_norm(int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(kEpsilon));
}

void check_range(const char* name, int64_t value, int64_t least, int64_t most) {
  if (value < least || value > most)
    fail_usage("a vision transformer with {}={}: expected {} to {}", name, value, least, most);
}

void check(const VisionTransformerShape& shape) {
  check_range("width", shape.width, kHeadWidth, 2048);
  check_range("depth", shape.depth, 1, 64);
  check_range("patch", shape.patch, 1, 64);
  check_range("grid", shape.grid, 1, 256);
  check_range("mlp", shape.mlp, 1, 8);
  check_range("registers", shape.registers, 0, 64);
  if (shape.width % kHeadWidth != 0)
    fail_usage("a vision transformer of width {}: expected a multiple of {}", shape.width, kHeadWidth);
}

}  // namespace

std::string to_string(const VisionTransformerShape& shape) {
  return fmt::format("vit:width={}:depth={}:patch={}:grid={}:mlp={}:registers={}:layer-scale={:d}:stretched={:d}",
                     shape.width, shape.depth, shape.patch, shape.grid, shape.mlp, shape.registers, shape.layer_scale,
                     shape.stretched);
}

VisionTransformerShape parse_vision_transformer(const std::string& text) {
  VisionTransformerShape shape;
  int layer_scale = 0;
  int stretched = 0;
  std::sscanf(text.c_str(),
              "vit:width=%" SCNd64 ":depth=%" SCNd64 ":patch=%" SCNd64 ":grid=%" SCNd64 ":mlp=%" SCNd64
              ":registers=%" SCNd64 ":layer-scale=%d:stretched=%d",
              &shape.width, &shape.depth, &shape.patch, &shape.grid, &shape.mlp, &shape.registers, &layer_scale,
              &stretched);
  shape.layer_scale = layer_scale != 0;
  shape.stretched = stretched != 0;
  if (to_string(shape) != text)
    fail_usage("'{}' is not a vision transformer: expected a text such as {}", text,
               to_string(VisionTransformerShape()));
  check(shape);
  return shape;
}

VisionTransformer::VisionTransformer(const VisionTransformerShape& shape) : shape_(shape) {
  check(shape);
  const int64_t width = shape.width;
  class_token_ = register_parameter("cls_token", at::zeros({1, 1, width}));
  positions_ = register_parameter("pos_embed", 0.02 * at::randn({1, 1 + shape.grid * shape.grid, width}));
  if (shape.registers > 0)
    register_tokens_ = register_parameter("register_tokens", at::zeros({1, shape.registers, width}));
  patches_ = torch::nn::Conv2d(torch::nn::Conv2dOptions(3, width, shape.patch).stride(shape.patch));
  register_module("patch_embed", std::make_shared<torch::nn::Module>())->register_module("proj", patches_);
  const auto blocks = register_module("blocks", std::make_shared<torch::nn::Module>());
  for (int64_t i = 0; i < shape.depth; ++i) layers_.push_back(make_layer(*blocks, std::to_string(i)));
  norm_ = register_module("norm", layer_norm(width));
}

VisionTransformer::Layer VisionTransformer::make_layer(torch::nn::Module& blocks, const std::string& name) const {
  const int64_t width = shape_.width;
  const auto named = [](torch::nn::Module& parent, const char* child) {
    return parent.register_module(child, std::make_shared<torch::nn::Module>());
  };
  const auto block = named(blocks, name.c_str());
  const auto attention = named(*block, "attn");
  const auto mlp = named(*block, "mlp");
  Layer layer;
  layer.norm1 = block->register_module("norm1", layer_norm(width));
  layer.qkv = attention->register_module("qkv", torch::nn::Linear(width, 3 * width));
  layer.projection = attention->register_module("proj", torch::nn::Linear(width, width));
  layer.norm2 = block->register_module("norm2", layer_norm(width));
  layer.fc1 = mlp->register_module("fc1", torch::nn::Linear(width, shape_.mlp * width));
  layer.fc2 = mlp->register_module("fc2", torch::nn::Linear(shape_.mlp * width, width));
  if (shape_.layer_scale) {
    layer.scale1 = named(*block, "ls1")->register_parameter("gamma", at::ones({width}));
    layer.scale2 = named(*block, "ls2")->register_parameter("gamma", at::ones({width}));
  }
  return layer;
}

at::Tensor VisionTransformer::attend(const Layer& layer, const at::Tensor& input) const {
  auto qkv_layer = layer.qkv;
  const auto qkv = qkv_layer(input).chunk(3, -1);
  auto projection = layer.projection;
  return projection(huggingface::attention(qkv[0], qkv[1], qkv[2], shape_.width / kHeadWidth));
}

at::Tensor VisionTransformer::tokens(const at::Tensor& images) {
  const int64_t rows = images.size(2) / shape_.patch;
  const int64_t columns = images.size(3) / shape_.patch;
  if (rows * shape_.patch != images.size(2) || columns * shape_.patch != images.size(3)) {
    fail("images of {}x{} pixels for a vision transformer with patches of {}: expected a multiple, such as {}",
         images.size(3), images.size(2), shape_.patch, shape_.grid * shape_.patch);
  }
  const int64_t n = images.size(0);
  at::Tensor x = at::cat({class_token_.expand({n, -1, -1}), patches_(images).flatten(2).transpose(1, 2)}, 1);
  const auto stretch = shape_.stretched ? huggingface::Stretch::kByFactor : huggingface::Stretch::kAntialiased;
  x = x + huggingface::positions_for(positions_, 1, {rows, columns}, stretch);
  if (shape_.registers > 0)
    x = at::cat({x.narrow(1, 0, 1), register_tokens_.expand({n, -1, -1}), x.narrow(1, 1, rows * columns)}, 1);
  const auto scaled = [](const at::Tensor& branch, const at::Tensor& scale) {
    return scale.defined() ? branch * scale : branch;
  };
  for (Layer& layer : layers_) {
    x = x + scaled(attend(layer, layer.norm1(x)), layer.scale1);
    x = x + scaled(layer.fc2(at::gelu(layer.fc1(layer.norm2(x)))), layer.scale2);
  }
  return norm_(x);
}

at::Tensor VisionTransformer::forward(const at::Tensor& images) { return tokens(images).select(1, 0); }

at::Tensor VisionTransformer::forward_maps(const at::Tensor& images) {
  const int64_t rows = images.size(2) / shape_.patch;
  const int64_t columns = images.size(3) / shape_.patch;
  const at::Tensor patches = tokens(images).slice(1, 1 + shape_.registers);  // [n, rows * columns, width]
  return patches.transpose(1, 2).reshape({images.size(0), shape_.width, rows, columns});
}

}  // namespace protocom
