#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/array.h"
#include "fewshot/feature_transform.h"
#include "fewshot/floats.h"

namespace protocom {

/// A table of features after a FeatureTransform. Each block of rows is mapped at the first request, always as a whole,
/// so that the values of a row depend neither on episodes nor on threads. Thread-safe.
class MappedTable {
 public:
  /// `table` float16 or float32 [m, d]; `map` null: rows are unchanged.
  MappedTable(Array table, std::shared_ptr<const FeatureTransform> map);

  [[nodiscard]] const FeatureTransform* map() const { return map_.get(); }
  /// The table before mapping.
  [[nodiscard]] const Array& table() const { return table_; }
  /// Makes sure that these rows (-1: none) have their values.
  void need(const std::vector<int64_t>& rows) const;

  /// Numbers per row.
  [[nodiscard]] int64_t width() const { return width_; }
  /// Floats from one row to the next: the width rounded up to a multiple of kRowMultiple, padded with zeros.
  [[nodiscard]] int64_t stride() const { return stride_; }

  // Only rows passed to need() have values.
  [[nodiscard]] const float* row(int64_t i) const { return first_ + i * stride_; }
  /// Squared length of a row.
  [[nodiscard]] float square(int64_t i) const { return squares_[static_cast<size_t>(i)]; }

 private:
  static constexpr int64_t kBlock = 256;  // rows

  struct Block {
    std::once_flag once;
    std::atomic<bool> filled{false};
  };

  void fill(int64_t block) const;

  Array table_;
  std::shared_ptr<const FeatureTransform> map_;
  int64_t width_;
  int64_t stride_;
  Array mapped_;  // [m, stride]; the table itself if it needs no mapping, conversion or padding
  const float* first_;
  mutable Floats squares_;  // [m]
  mutable std::vector<Block> blocks_;
};

}  // namespace protocom
