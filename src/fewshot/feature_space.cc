#include "fewshot/feature_space.h"

#include <ATen/ATen.h>

#include "protocom/core/error.h"
#include "protocom/nn/unit_vectors.h"

namespace protocom {

FeatureSpace::FeatureSpace(std::string name, const MethodContext& context) : name_(std::move(name)) {
  if (name_ == "cl2n") base_mean_ = context.base->features.mean(0);
}

at::Tensor FeatureSpace::of(const at::Tensor& features) const {
  constexpr double kAboveZero = 1e-6;
  if (name_ == "none") return features;
  if (name_ == "l2n") return unit_vectors(features);
  if (name_ == "power") return unit_vectors((features.clamp_min(0) + kAboveZero).sqrt());
  return unit_vectors(features - base_mean_);
}

EpisodeBatch FeatureSpace::of(const EpisodeBatch& batch) const {
  if (!batch.support.defined()) fail("this method needs each support image's feature");
  EpisodeBatch moved = batch;
  moved.support = of(batch.support);
  if (batch.support_mask.defined()) moved.support = moved.support * batch.support_mask.unsqueeze(-1);
  moved.query = of(batch.query);
  if (batch.unlabelled.defined()) moved.unlabelled = of(batch.unlabelled);
  return moved;
}

}  // namespace protocom
