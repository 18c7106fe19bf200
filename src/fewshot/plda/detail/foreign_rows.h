#pragma once
#include "fewshot/method.h"
#include "fewshot/plda/detail/float_space.h"

namespace protocom {

/// The part of a fitted space that is the same for every episode that adapts it: with the center c' = c + s instead of
/// c,
///     f = ((x - c) P - s P) / |x - c - s| - offset,
/// so a row is [ (x - c) P | x - c | |x - c|^2 ], each part padded with zeros to a multiple of kRowMultiple. float32.
class ForeignRows : public FeatureTransform {
 public:
  explicit ForeignRows(const PldaSpace& space);
  [[nodiscard]] int64_t width(int64_t /*dim*/) const override { return width(); }
  void map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const override;
  [[nodiscard]] bool same_as(const FeatureTransform& other) const override;
  [[nodiscard]] int64_t feature_dims() const { return space_.projection.rows(); }
  [[nodiscard]] int64_t dims() const { return space_.projection.cols(); }
  /// Length of the first part, and beginning of the last.
  [[nodiscard]] int64_t first() const;
  [[nodiscard]] int64_t last() const;
  [[nodiscard]] int64_t width() const;
  [[nodiscard]] const FloatSpace& space() const { return space_; }

 private:
  FloatSpace space_;
};

}  // namespace protocom
