#pragma once
#include <memory>
#include <string>
#include <vector>

#include "fewshot/method.h"

namespace protocom {

/// The space in which a method compares features:
///   none   as they are
///   l2n    at unit length
///   cl2n   less the base images' mean, then at unit length (Wang et al., SimpleShot, 2019)
///   power  sqrt(max(x, 0) + 1e-6), then at unit length (Hu et al., PT-MAP, 2020); for backbones that end in a ReLU
class FeatureSpace : public FeatureTransform {
 public:
  /// `name` is one of names() except "none"; "cl2n" needs the context's base features.
  FeatureSpace(std::string name, const MethodContext& context);

  static std::vector<std::string> names() { return {"none", "l2n", "cl2n", "power"}; }
  static bool needs_base(const std::string& name) { return name == "cl2n"; }
  static constexpr const char* kText =
      "none; l2n: unit length; cl2n: less the base images’ mean, then unit length; power: square root, then unit "
      "length";

  void map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const override;
  [[nodiscard]] bool same_as(const FeatureTransform& other) const override;

 private:
  std::string name_;
  Eigen::RowVectorXf base_mean_;  // [d]; empty except for cl2n
};

/// Returns the FeatureSpace of that name; null: features unchanged.
std::shared_ptr<const FeatureTransform> feature_space(const std::string& name, const MethodContext& context);

/// Returns the mean of float32 features [m, d].
Eigen::RowVectorXf mean_row(const Array& features);

}  // namespace protocom
