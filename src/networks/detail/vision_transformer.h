#pragma once
#include <torch/torch.h>

#include <string>
#include <vector>

#include "networks/detail/feature_module.h"

namespace protocom {

/// What a vision transformer is made from, as its state dict shows it.
struct VisionTransformerShape {
  int64_t width = 384;  ///< of a token; heads are 64 wide
  int64_t depth = 12;
  int64_t patch = 16;        ///< pixels a side
  int64_t grid = 14;         ///< patches a side that position embeddings are there for
  int64_t mlp = 4;           ///< hidden width over the width
  int64_t registers = 0;     ///< further tokens, without positions (Darcet et al. 2024)
  bool layer_scale = false;  ///< each branch times a vector before it is added
  /// Positions for other grids as DINOv2's code stretches them: bicubic without antialiasing by the factor (new + 0.1)
  /// / old. Otherwise bicubic with antialiasing to the size, as timm and DINOv2 with registers do.
  bool stretched = false;
};

/// "vit:width=384:depth=12:patch=14:grid=37:mlp=4:registers=0:layer-scale=1:stretched=1", and back. Throws UsageError
/// for what is not such a text, or out of range.
std::string to_string(const VisionTransformerShape& shape);
VisionTransformerShape parse_vision_transformer(const std::string& text);

/// A vision transformer (Dosovitskiy et al. 2021) as timm and DINOv2 have it, under their names
/// (`blocks.0.attn.qkv.weight`): norms before the branches (epsilon 1e-6), exact GELU, without the classifier. A
/// feature is the class token after the last norm; maps are the patches' tokens after it.
class VisionTransformer : public FeatureModule {
 public:
  explicit VisionTransformer(const VisionTransformerShape& shape);

  /// Sides that are not multiples of the patch throw Error.
  at::Tensor forward_maps(const at::Tensor& images) override;
  at::Tensor forward(const at::Tensor& images) override;
  [[nodiscard]] int64_t dim(int64_t /*image_size*/) const override { return shape_.width; }

 private:
  struct Layer {
    torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
    torch::nn::Linear qkv{nullptr}, projection{nullptr}, fc1{nullptr}, fc2{nullptr};
    at::Tensor scale1, scale2;  // undefined without layer_scale
  };

  Layer make_layer(torch::nn::Module& blocks, const std::string& name) const;
  /// All tokens after the last norm, [n, 1 + registers + patches, width].
  at::Tensor tokens(const at::Tensor& images);
  [[nodiscard]] at::Tensor attend(const Layer& layer, const at::Tensor& input) const;

  VisionTransformerShape shape_;
  at::Tensor class_token_, positions_, register_tokens_;
  torch::nn::Conv2d patches_{nullptr};
  std::vector<Layer> layers_;
  torch::nn::LayerNorm norm_{nullptr};
};

}  // namespace protocom
