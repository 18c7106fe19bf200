#include "heads/detail/unit_space.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "heads/detail/expect_tensor.h"
#include "tensors/tensors.h"

namespace protocom {

UnitSpace::UnitSpace(const std::string& name, const Array& base_features)
    : centre_(name == "cl2n" ? tensor_of(base_features).mean(0) : at::zeros({base_features.size(1)})),
      length_((tensor_of(base_features) - centre_).norm(2, -1).mean()) {
  if (!(length_.item<double>() > 0)) fail("all features of the base classes are identical or zero: check the encoder");
}

UnitSpace::UnitSpace(const MethodState& state)
    : centre_(tensor_of(state.at("space.centre")).to(at::kFloat)),
      length_(tensor_of(state.at("space.length")).to(at::kFloat)) {
  expect_tensor(centre_, {"space.centre", at::kFloat, {-1}});
  expect_tensor(length_, {"space.length", at::kFloat, {}});
}

int64_t UnitSpace::width(int64_t dim) const {
  if (dim != this->dim())
    fail("the method was fitted on features of {} dimensions, found {}: extract both with the same encoder",
         this->dim(), dim);
  return dim;
}

void UnitSpace::map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const {
  rows = features.rowwise() - Eigen::Map<const Eigen::RowVectorXf>(centre_.data_ptr<float>(), dim());
  scale_to_unit_rows(rows);
}

bool UnitSpace::same_as(const FeatureTransform& other) const {
  const auto* same = dynamic_cast<const UnitSpace*>(&other);
  return same != nullptr && centre_.equal(same->centre_);
}

at::Tensor UnitSpace::back(const at::Tensor& points) const { return centre_ + length_ * points; }

int64_t UnitSpace::dim() const { return centre_.size(0); }

void UnitSpace::add_to(MethodState& state) const {
  state.tensors.emplace_back("space.centre", array_of(centre_));
  state.tensors.emplace_back("space.length", array_of(length_));
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
