#pragma once
#include <torch/torch.h>

namespace protocom {

/// A network from normalised images to features, to which Backbone adds the normalisation and the contract.
class FeatureModule : public torch::nn::Module {
 public:
  /// Computes [n, 3, h, w] -> [n, d].
  virtual at::Tensor forward(const at::Tensor& images) = 0;
  /// Computes the last maps, [n, 3, h, w] -> [n, c, h', w'].
  virtual at::Tensor forward_maps(const at::Tensor& images) = 0;
  /// Returns d for square images of that side.
  [[nodiscard]] virtual int64_t dim(int64_t image_size) const = 0;
};

/// Applies a convolution with half its kernel as padding, followed by batch norm. Outside training the norm is folded
/// into the convolution's weights: the same function in exact arithmetic, with one pass over memory less.
at::Tensor conv_bn(torch::nn::Conv2d& conv, torch::nn::BatchNorm2d& bn, const at::Tensor& input);

/// Initialises with Kaiming normal (He et al. 2015, fan-out, gain of ReLU) for convolutions, 1 and 0 for batch norms,
/// as the authors do.
void initialise(torch::nn::Module& module);

}  // namespace protocom
