#pragma once
#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "fewshot/method.h"

namespace protocom {

/// A table of features after a FeatureTransform. Blocks of rows are mapped when they are first asked for, each at once
/// and in one way only, so that what a row gives depends neither on episodes nor on threads. Thread-safe.
class MappedTable {
 public:
  /// `table` float16 or float32 [m, d].
  MappedTable(at::Tensor table, std::shared_ptr<const FeatureTransform> map);

  [[nodiscard]] const FeatureTransform& map() const { return *map_; }
  /// The table before.
  [[nodiscard]] const at::Tensor& table() const { return table_; }
  /// Sees to it that these rows (-1: none) have their values.
  void need(const std::vector<int64_t>& rows) const;

  // Only rows that were needed have their values.

  /// [m, e], a slice of longer rows where e is no multiple of kRowMultiple.
  [[nodiscard]] const at::Tensor& rows() const { return mapped_; }
  /// Floats from row to row: e rounded up to a multiple of kRowMultiple, filled up with zeros.
  [[nodiscard]] int64_t stride() const { return stride_; }
  [[nodiscard]] const float* row(int64_t i) const { return first_ + i * stride_; }
  /// Squared length of a row.
  [[nodiscard]] float square(int64_t i) const { return squares_[i]; }

 private:
  static constexpr int64_t kBlock = 256;  // rows

  struct Block {
    std::once_flag once;
    std::atomic<bool> filled{false};
  };

  void fill(int64_t block) const;

  at::Tensor table_;
  std::shared_ptr<const FeatureTransform> map_;
  at::Tensor mapped_;   // [m, e]
  at::Tensor lengths_;  // [m], squared
  int64_t stride_;
  const float* first_;
  const float* squares_;
  mutable std::vector<Block> blocks_;
};

}  // namespace protocom
