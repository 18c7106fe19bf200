#pragma once
#include <memory>
#include <string>
#include <vector>

#include "fewshot/method.h"
#include "heads/episode_batch.h"

namespace protocom {

/// Features at unit length, whatever their scale: x becomes (x - c) / |x - c|. It is stored with the method that learns
/// in it. Its names are those of FeatureSpace.
class UnitSpace : public FeatureTransform {
 public:
  /// `name` is "l2n", with c = 0, or "cl2n", with c the base images' mean. Throws Error for features [m, d] that are
  /// all alike.
  UnitSpace(const std::string& name, const Array& base_features);
  /// Restores the space from what add_to() wrote. Throws Error for tensors that are missing or misshaped.
  explicit UnitSpace(const MethodState& state);

  [[nodiscard]] int64_t width(int64_t dim) const override;
  void map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const override;
  [[nodiscard]] bool same_as(const FeatureTransform& other) const override;
  /// Maps points of the space back to the features' own: c + p times the base images' mean length.
  [[nodiscard]] at::Tensor back(const at::Tensor& points) const;
  [[nodiscard]] int64_t dim() const;
  void add_to(MethodState& state) const;

 private:
  at::Tensor centre_;  // [d]
  at::Tensor length_;  // []
};

/// Returns the mean of the supports of each class, in a space in which missing ones are zeros: [b, n, d].
at::Tensor mean_of_supports(const EpisodeBatch& batch);

/// Returns the number of supports of each class, [b, n].
at::Tensor count_of_supports(const EpisodeBatch& batch);

}  // namespace protocom
