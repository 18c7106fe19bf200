#pragma once
#include <vector>

#include "networks/detail/feature_module.h"

namespace protocom {

/// Conv4 (Vinyals et al. 2016, Snell et al. 2017): four blocks of 3x3 convolution, batch norm, ReLU and 2x2
/// max-pooling, 64 channels each. The last map is flattened, so d depends on the image size: 1600 at 84x84.
class Conv4 : public FeatureModule {
 public:
  Conv4();
  at::Tensor forward_maps(const at::Tensor& images) override;
  at::Tensor forward(const at::Tensor& images) override;
  [[nodiscard]] int64_t dim(int64_t image_size) const override;

 private:
  std::vector<torch::nn::Conv2d> convs_;
  std::vector<torch::nn::BatchNorm2d> bns_;
};

}  // namespace protocom
