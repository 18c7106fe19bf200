#pragma once
#include <torch/torch.h>

#include <array>

#include "networks/detail/feature_module.h"

namespace protocom {

/// Three 3x3 convolutions with batch norm, a 1x1 shortcut, then 2x2 max-pooling.
class ResidualBlockImpl : public torch::nn::Module {
 public:
  enum class Last { kNo, kYes };
  /// kYes omits the activation after the sum, as in the last block of the paper's ResNet12.
  ResidualBlockImpl(int64_t in_channels, int64_t out_channels, Last last);

  /// Computes [n, in, h, w] -> [n, out, h/2, w/2].
  at::Tensor forward(const at::Tensor& input);

 private:
  Last last_;
  torch::nn::Conv2d conv1_, conv2_, conv3_;
  torch::nn::BatchNorm2d bn1_, bn2_, bn3_;
  torch::nn::Conv2d shortcut_conv_;
  torch::nn::BatchNorm2d shortcut_bn_;
};
TORCH_MODULE(ResidualBlock);

/// ResNet12 of the few-shot literature (section 5.1 of the paper): four residual blocks and a global average pool.
class ResNet12 : public FeatureModule {
 public:
  explicit ResNet12(const std::array<int64_t, 4>& channels);
  at::Tensor forward(const at::Tensor& images) override { return forward_maps(images).mean({2, 3}); }
  at::Tensor forward_maps(const at::Tensor& images) override;
  [[nodiscard]] int64_t dim(int64_t /*image_size*/) const override { return dim_; }

 private:
  std::vector<ResidualBlock> blocks_;
  int64_t dim_;
};

}  // namespace protocom
