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

/// A table of features after a FeatureTransform. Blocks of rows are mapped when they are first requested, each at once
/// and in one way only, so that what a row gives depends neither on episodes nor on threads. Thread-safe.
class MappedTable {
 public:
  /// `table` float16 or float32 [m, d]; `map` null: rows stay as they are.
  MappedTable(Array table, std::shared_ptr<const FeatureTransform> map);

  [[nodiscard]] const FeatureTransform* map() const { return map_.get(); }
  /// The table before.
  [[nodiscard]] const Array& table() const { return table_; }
  /// Sees to it that these rows (-1: none) have their values.
  void need(const std::vector<int64_t>& rows) const;

  /// Numbers of a row.
  [[nodiscard]] int64_t width() const { return width_; }
  /// Floats from row to row: the width rounded up to a multiple of kRowMultiple, filled up with zeros.
  [[nodiscard]] int64_t stride() const { return stride_; }

  // Only rows that were needed have their values.
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
  Array mapped_;  // [m, stride]; the table itself if nothing is mapped, converted or padded
  const float* first_;
  mutable Floats squares_;  // [m]
  mutable std::vector<Block> blocks_;
};

}  // namespace protocom
