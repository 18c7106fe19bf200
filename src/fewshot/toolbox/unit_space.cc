#include "fewshot/toolbox/detail/unit_space.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "fewshot/toolbox/detail/expect_tensor.h"
#include "tensors/unit_vectors.h"

namespace protocom {

UnitSpace::UnitSpace(const std::string& name, const at::Tensor& base_features)
    : centre_(name == "cl2n" ? base_features.mean(0) : at::zeros({base_features.size(1)})),
      length_((base_features - centre_).norm(2, -1).mean()) {
  if (!(length_.item<double>() > 0)) fail("all features of the base classes are alike");
}

UnitSpace::UnitSpace(const MethodState& state)
    : centre_(state.at("space.centre").to(at::kFloat)), length_(state.at("space.length").to(at::kFloat)) {
  expect_tensor(centre_, {"space.centre", at::kFloat, {-1}});
  expect_tensor(length_, {"space.length", at::kFloat, {}});
}

at::Tensor UnitSpace::map(const at::Tensor& features) const {
  if (features.size(-1) != dim())
    fail("the method was fitted on features of {} dimensions, these have {}", dim(), features.size(-1));
  return unit_vectors(features - centre_);
}

bool UnitSpace::same_as(const FeatureTransform& other) const {
  const auto* same = dynamic_cast<const UnitSpace*>(&other);
  return same != nullptr && centre_.equal(same->centre_);
}

at::Tensor UnitSpace::back(const at::Tensor& points) const { return centre_ + length_ * points; }

int64_t UnitSpace::dim() const { return centre_.size(0); }

void UnitSpace::add_to(MethodState& state) const {
  state.tensors.emplace_back("space.centre", centre_);
  state.tensors.emplace_back("space.length", length_);
}

at::Tensor mean_of_supports(const EpisodeBatch& batch) {
  return batch.support.sum(2) / count_of_supports(batch).unsqueeze(-1);
}

at::Tensor count_of_supports(const EpisodeBatch& batch) {
  if (!batch.support.defined()) fail("this method needs each support image's feature");
  if (batch.support_mask.defined()) return batch.support_mask.sum(-1);
  return at::full({batch.support.size(0), batch.support.size(1)}, static_cast<double>(batch.support.size(2)));
}

}  // namespace protocom
