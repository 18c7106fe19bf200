#include "fewshot/mapped_table.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

namespace protocom {
namespace {

constexpr int64_t kBlock = 256;  ///< rows

}  // namespace

MappedTable::MappedTable(at::Tensor table, std::shared_ptr<const FeatureTransform> map)
    : table_(std::move(table)),
      map_(std::move(map)),
      mapped_(at::empty({table_.size(0), map_->map(table_.narrow(0, 0, 0).to(at::kFloat)).size(1)})),
      filled_(static_cast<size_t>((table_.size(0) + kBlock - 1) / kBlock)) {}

void MappedTable::fill(int64_t block) const {
  const int64_t begin = block * kBlock;
  const int64_t rows = std::min(kBlock, table_.size(0) - begin);
  mapped_.narrow(0, begin, rows).copy_(map_->map(table_.narrow(0, begin, rows).to(at::kFloat)));
}

void MappedTable::need(const std::vector<int64_t>& rows) const {
  for (const int64_t row : rows) {
    if (row >= 0) std::call_once(filled_[static_cast<size_t>(row / kBlock)], [&] { fill(row / kBlock); });
  }
}

}  // namespace protocom
