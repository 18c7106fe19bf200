#pragma once
#include <ATen/core/Tensor.h>

#include "fewshot/detail/floats.h"
#include "fewshot/method.h"
#include "fewshot/plda/space.h"

namespace protocom {

/// What of a fitted space is the same for every episode that adapts it: with the center c' = c + s in place of c,
///     f = ((x - c) P - s P) / |x - c - s| - offset,
/// so a row is [ (x - c) P | x - c | |x - c|^2 ], each part filled up with zeros to a multiple of kRowMultiple.
/// float32.
class ForeignRows : public FeatureTransform {
 public:
  explicit ForeignRows(const PldaSpace& space);
  [[nodiscard]] at::Tensor map(const at::Tensor& features) const override;
  [[nodiscard]] bool same_as(const FeatureTransform& other) const override;
  [[nodiscard]] int64_t feature_dims() const { return space_.center.size(0); }
  [[nodiscard]] int64_t dims() const { return space_.projection.size(1); }
  /// Dimensions in which the classes that the space was fitted on differ.
  [[nodiscard]] int64_t leading() const { return space_.leading; }
  /// Length of the first part, and where the last begins.
  [[nodiscard]] int64_t first() const { return static_cast<int64_t>(offset_.size()); }
  [[nodiscard]] int64_t last() const;
  [[nodiscard]] int64_t width() const;
  /// [first()], zeros at the end.
  [[nodiscard]] const Floats& offset() const { return offset_; }
  [[nodiscard]] const Floats& between() const { return between_; }

 private:
  PldaSpace space_;  // float32
  Floats offset_, between_;
};

}  // namespace protocom
