#include "fewshot/toolbox/detail/feature_space.h"

#include <ATen/ATen.h>

#include "tensors/unit_vectors.h"

namespace protocom {

FeatureSpace::FeatureSpace(std::string name, const MethodContext& context) : name_(std::move(name)) {
  if (name_ == "cl2n") base_mean_ = context.base->features.mean(0);
}

at::Tensor FeatureSpace::map(const at::Tensor& features) const {
  constexpr double kAboveZero = 1e-6;
  if (name_ == "none") return features;
  if (name_ == "l2n") return unit_vectors(features);
  if (name_ == "power") return unit_vectors((features.clamp_min(0) + kAboveZero).sqrt());
  return unit_vectors(features - base_mean_);
}

bool FeatureSpace::same_as(const FeatureTransform& other) const {
  const auto* space = dynamic_cast<const FeatureSpace*>(&other);
  if (space == nullptr || space->name_ != name_) return false;
  return !base_mean_.defined() || base_mean_.equal(space->base_mean_);
}

std::shared_ptr<const FeatureTransform> feature_space(const std::string& name, const MethodContext& context) {
  if (name == "none") return nullptr;
  return std::make_shared<FeatureSpace>(name, context);
}

}  // namespace protocom
