#include "fewshot/toolbox/detail/feature_space.h"

#include <algorithm>
#include <cmath>

namespace protocom {
namespace {

/// Goes number by number, since Eigen's fast square root of a row depends on where the row begins.
void take_roots(Eigen::Ref<FloatMatrix> rows) {
  constexpr float kAboveZero = 1e-6F;
  for (int64_t i = 0; i < rows.rows(); ++i) {
    for (int64_t d = 0; d < rows.cols(); ++d) rows(i, d) = std::sqrt(std::max(rows(i, d), 0.0F) + kAboveZero);
  }
}

}  // namespace

FeatureSpace::FeatureSpace(std::string name, const MethodContext& context) : name_(std::move(name)) {
  if (needs_base(name_)) base_mean_ = mean_row(context.base->features);
}

void FeatureSpace::map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const {
  rows = features;
  if (name_ == "power") take_roots(rows);
  if (base_mean_.size() > 0) rows.rowwise() -= base_mean_;
  scale_to_unit_rows(rows);
}

bool FeatureSpace::same_as(const FeatureTransform& other) const {
  const auto* space = dynamic_cast<const FeatureSpace*>(&other);
  return space != nullptr && space->name_ == name_ && space->base_mean_ == base_mean_;
}

std::shared_ptr<const FeatureTransform> feature_space(const std::string& name, const MethodContext& context) {
  if (name == "none") return nullptr;
  return std::make_shared<FeatureSpace>(name, context);
}

Eigen::RowVectorXf mean_row(const Array& features) {
  const Array rows = features.to(NumberType::kFloat32);
  return matrix_of<float>(rows).cast<double>().colwise().mean().cast<float>();
}

}  // namespace protocom
