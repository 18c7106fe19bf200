#pragma once
#include <torch/torch.h>

#include <string>
#include <vector>

#include "networks/detail/feature_module.h"

namespace protocom {

/// The sizes of a vision transformer, as derived from its state dict.
struct VisionTransformerShape {
  int64_t width = 384;  ///< of a token; heads are 64 wide
  int64_t depth = 12;
  int64_t patch = 16;        ///< side length in pixels
  int64_t grid = 14;         ///< patches per side for which there are position embeddings
  int64_t mlp = 4;           ///< ratio of hidden width to width
  int64_t registers = 0;     ///< additional tokens without positions (Darcet et al. 2024)
  bool layer_scale = false;  ///< whether each branch is multiplied by a vector before it is added
  /// How positions are resized to other grids: as in DINOv2's code, bicubic without antialiasing by the factor
  /// (new + 0.1) / old; otherwise bicubic with antialiasing to the size, as in timm and DINOv2 with registers.
  bool stretched = false;
};

/// Convert to "vit:width=384:depth=12:patch=14:grid=37:mlp=4:registers=0:layer-scale=1:stretched=1", and back. Throw
/// UsageError for another text, or values out of range.
std::string to_string(const VisionTransformerShape& shape);
VisionTransformerShape parse_vision_transformer(const std::string& text);

/// A vision transformer (Dosovitskiy et al. 2021) as in timm and DINOv2, under their names
/// (`blocks.0.attn.qkv.weight`): norms before the branches (epsilon 1e-6), exact GELU, without the classifier. A
/// feature is the class token after the last norm; maps are the patches' tokens after it.
class VisionTransformer : public FeatureModule {
 public:
  explicit VisionTransformer(const VisionTransformerShape& shape);

  /// Throws Error for sides that are not multiples of the patch.
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
  /// Returns all tokens after the last norm, [n, 1 + registers + patches, width].
  at::Tensor tokens(const at::Tensor& images);
  [[nodiscard]] at::Tensor attend(const Layer& layer, const at::Tensor& input) const;

  VisionTransformerShape shape_;
  at::Tensor class_token_, positions_, register_tokens_;
  torch::nn::Conv2d patches_{nullptr};
  std::vector<Layer> layers_;
  torch::nn::LayerNorm norm_{nullptr};
};

}  // namespace protocom
