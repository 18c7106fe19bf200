#pragma once
#include <torch/torch.h>

#include <array>
#include <vector>

#include "networks/detail/feature_module.h"

namespace protocom {

/// The residual networks of He et al. 2016 as in torchvision and timm, under their names (`layer1.0.conv1.weight`),
/// with the stride of a bottleneck in its 3x3 convolution; without the classifier. A feature is the mean of the last
/// maps over positions.
class ResNet : public FeatureModule {
 public:
  enum class Block { kBasic, kBottleneck };
  /// `blocks`: number in each of the four layers: {2, 2, 2, 2} is ResNet-18, {3, 4, 6, 3} with bottlenecks ResNet-50.
  ResNet(Block block, const std::array<int64_t, 4>& blocks);

  at::Tensor forward_maps(const at::Tensor& images) override;
  at::Tensor forward(const at::Tensor& images) override { return forward_maps(images).mean({2, 3}); }
  [[nodiscard]] int64_t dim(int64_t /*image_size*/) const override { return dim_; }

 private:
  torch::nn::Conv2d conv1_;
  torch::nn::BatchNorm2d bn1_;
  std::vector<torch::nn::Sequential> layers_;
  int64_t dim_;
};

}  // namespace protocom
