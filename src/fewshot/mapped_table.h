#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "protocom/fewshot/method.h"

namespace protocom {

/// A table of features after a FeatureTransform. Blocks of rows are mapped when they are first asked for, each at once
/// and in one way only, so that what a row gives depends neither on episodes nor on threads. Thread-safe.
class MappedTable {
 public:
  /// `table` float16 or float32 [m, d].
  MappedTable(at::Tensor table, std::shared_ptr<const FeatureTransform> map);

  [[nodiscard]] const FeatureTransform& map() const { return *map_; }
  /// Sees to it that these rows (-1: none) have their values.
  void need(const std::vector<int64_t>& rows) const;
  /// [m, e]; only rows that were needed have their values.
  [[nodiscard]] const at::Tensor& rows() const { return mapped_; }

 private:
  void fill(int64_t block) const;

  at::Tensor table_;
  std::shared_ptr<const FeatureTransform> map_;
  at::Tensor mapped_;
  mutable std::vector<std::once_flag> filled_;
};

}  // namespace protocom
