#pragma once
#include <cstdint>

#include "base/matrix.h"

namespace protocom {

/// Features float32 [m, d] where they lie; each row is contiguous.
using FeatureRows = Eigen::Ref<const FloatMatrix>;

/// Where a method compares features, if that is a function of each feature vector by itself: a table of features goes
/// through it once, however many episodes draw from the table. Thread-safe.
class FeatureTransform {
 public:
  FeatureTransform() = default;
  virtual ~FeatureTransform() = default;
  FeatureTransform(const FeatureTransform&) = delete;
  FeatureTransform& operator=(const FeatureTransform&) = delete;
  /// Numbers of a row, of features of `dim` numbers. Throws Error if features have another dimension.
  [[nodiscard]] virtual int64_t width(int64_t dim) const { return dim; }
  /// Writes `rows` [m, width] of features [m, d], every row by itself. Throws Error if a feature cannot be mapped.
  virtual void map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const = 0;
  /// Whether both map alike, so that methods can share what they give.
  [[nodiscard]] virtual bool same_as(const FeatureTransform& other) const { return this == &other; }
};

/// Numbers of a row of features after `space`; null: they stay as they are.
inline int64_t width_after(const FeatureTransform* space, int64_t dim) {
  return space == nullptr ? dim : space->width(dim);
}

/// Features [m, d] after `space` (null: as they are) in rows [m, padded_length(width)], filled up with zeros.
FloatMatrix padded_rows(const FeatureRows& features, const FeatureTransform* space);

}  // namespace protocom
