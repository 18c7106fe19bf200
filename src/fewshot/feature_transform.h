#pragma once
#include <cstdint>

#include "base/matrix.h"

namespace protocom {

/// Features float32 [m, d] in place; each row is contiguous.
using FeatureRows = Eigen::Ref<const FloatMatrix>;

/// The map to the space in which a method compares features, if it acts on each feature vector independently: a table
/// of features is mapped once, however many episodes draw from it. Thread-safe.
class FeatureTransform {
 public:
  FeatureTransform() = default;
  virtual ~FeatureTransform() = default;
  FeatureTransform(const FeatureTransform&) = delete;
  FeatureTransform& operator=(const FeatureTransform&) = delete;
  /// Numbers per mapped row, for features of `dim` numbers. Throws Error if it takes another dimension.
  [[nodiscard]] virtual int64_t width(int64_t dim) const { return dim; }
  /// Maps features [m, d] to `rows` [m, width], each row independently. Throws Error if a feature cannot be mapped.
  virtual void map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const = 0;
  /// Whether both give equal rows, so that methods can share them.
  [[nodiscard]] virtual bool same_as(const FeatureTransform& other) const { return this == &other; }
};

/// Returns the numbers per row of features after `space`; null: unchanged.
inline int64_t width_after(const FeatureTransform* space, int64_t dim) {
  return space == nullptr ? dim : space->width(dim);
}

/// Returns features [m, d] after `space` (null: unchanged) as rows [m, padded_length(width)], padded with zeros.
FloatMatrix padded_rows(const FeatureRows& features, const FeatureTransform* space);

}  // namespace protocom
