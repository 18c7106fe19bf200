#include "trainers/detail/attribute_draw.h"

#include <ATen/ATen.h>

#include "tensors/tensors.h"

namespace protocom {

AttributeDraw::AttributeDraw(const KnowledgeTable& classes, const CompletionModel& model)
    : classes_(classes), model_(model), attributes_of_(static_cast<size_t>(classes.association.size(0))) {
  const at::Tensor association = tensor_of(classes.association);
  const auto r = association.accessor<float, 2>();
  for (int64_t k = 0; k < r.size(0); ++k) {
    for (int64_t a = 0; a < r.size(1); ++a) {
      if (r[k][a] != 0) attributes_of_[static_cast<size_t>(k)].push_back(a);
    }
  }
}

CompletionInput AttributeDraw::input(const at::Tensor& prototypes, const std::vector<int64_t>& labels,
                                     at::Generator& generator) const {
  std::vector<int64_t> prototype;
  std::vector<int64_t> attribute;
  std::vector<float> weight;
  const at::Tensor association = tensor_of(classes_.association);
  const auto r = association.accessor<float, 2>();
  for (size_t i = 0; i < labels.size(); ++i) {
    for (const int64_t a : attributes_of_[static_cast<size_t>(labels[i])]) {
      prototype.push_back(static_cast<int64_t>(i));
      attribute.push_back(a);
      weight.push_back(r[labels[i]][a]);
    }
  }
  const at::Tensor pair_attribute = at::tensor(attribute, at::kLong);
  const auto pairs = static_cast<int64_t>(attribute.size());
  // Drawn on the CPU whatever the device, so that every device gets the same features.
  const at::Tensor feature = at::randn({pairs, model_.sizes.feature_dim}, generator, at::kFloat)
                                 .mul_(tensor_of(model_.attribute_std).index_select(0, pair_attribute))
                                 .add_(tensor_of(model_.attribute_mean).index_select(0, pair_attribute));

  const auto device = prototypes.device();
  CompletionInput input;
  input.prototypes = prototypes;
  input.class_embedding = tensor_of(classes_.class_embedding).index_select(0, at::tensor(labels, at::kLong)).to(device);
  input.attribute_embedding = tensor_of(model_.attribute_embedding).to(device);
  input.pair_prototype = at::tensor(prototype, at::kLong).to(device);
  input.pair_attribute = pair_attribute.to(device);
  input.pair_weight = at::tensor(weight, at::kFloat).to(device);
  input.pair_feature = feature.to(device);
  return input;
}

}  // namespace protocom
