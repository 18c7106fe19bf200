#include "networks/detail/fixed_backbone.h"

#include "base/error.h"
#include "encoders/chosen_preprocessing.h"
#include "encoders/output_checks.h"
#include "networks/detail/image_tensors.h"
#include "networks/detail/module_backbone.h"

namespace protocom {

void FixedBackbone::set_preprocessing(const Preprocessing& chosen) {
  preprocessing_ = chosen;
  check_image_size(preprocessing_.image_size);
  if (!preprocessing_.normalises()) return;
  mean_ = channel_values(preprocessing_.mean);
  std_ = channel_values(preprocessing_.std);
}

void FixedBackbone::try_out() {
  const at::Tensor features = forward(trial_images(preprocessing_.image_size));
  check_trial_is_finite(at::isfinite(features).all().item<bool>());
  dim_ = features.size(1);
}

at::Tensor FixedBackbone::normalised(const at::Tensor& images) const {
  check_images(images);
  return mean_.defined() ? (images - mean_) / std_ : images;
}

void FixedBackbone::set_mode(BackboneMode mode) {
  if (mode != BackboneMode::kUse) fail("{} cannot be trained: it is used unchanged", path_.string());
}

void FixedBackbone::to(c10::Device device) {
  if (!mean_.defined()) return;
  mean_ = mean_.to(device);
  std_ = std_.to(device);
}

}  // namespace protocom
