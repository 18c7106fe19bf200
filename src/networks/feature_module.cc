#include "networks/detail/feature_module.h"

#include "networks/detail/batch_norm.h"

namespace protocom {

at::Tensor conv_bn(torch::nn::Conv2d& conv, torch::nn::BatchNorm2d& bn, const at::Tensor& input) {
  if (bn->is_training()) return batch_norm(bn, conv(input));
  const at::Tensor scale = bn->weight * (bn->running_var + bn->options.eps()).rsqrt();  // [out]
  at::Tensor shift = bn->bias - bn->running_mean * scale;                               // [out]
  if (conv->bias.defined()) shift = shift + conv->bias * scale;
  const at::Tensor weight = conv->weight * scale.reshape({-1, 1, 1, 1});
  return at::conv2d(input, weight, shift, conv->options.stride()->at(0), conv->options.kernel_size()->at(0) / 2);
}

void initialise(torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  for (const auto& child : module.modules(/*include_self=*/false)) {
    if (auto* conv = child->as<torch::nn::Conv2d>()) {
      torch::nn::init::kaiming_normal_(conv->weight, /*a=*/0.0, torch::kFanOut, torch::kReLU);
      if (conv->bias.defined()) torch::nn::init::zeros_(conv->bias);
    }
  }
}

}  // namespace protocom
