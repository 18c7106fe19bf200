#include "fewshot/mapped_table.h"

#include <algorithm>
#include <utility>

#include "fewshot/row_kernels.h"
#include "fewshot/row_length.h"

namespace protocom {
namespace {

/// Returns the table itself if its rows are already as tasks read them.
Array rows_for(const Array& table, const FeatureTransform* map, int64_t stride) {
  if (map == nullptr && table.type() == NumberType::kFloat32 && stride == table.size(1)) return table;
  return Array::uninitialised({table.size(0), stride});
}

}  // namespace

MappedTable::MappedTable(Array table, std::shared_ptr<const FeatureTransform> map)
    : table_(std::move(table)),
      map_(std::move(map)),
      width_(width_after(map_.get(), table_.size(1))),
      stride_(padded_length(width_)),
      mapped_(rows_for(table_, map_.get(), stride_)),
      first_(mapped_.data<float>()),
      squares_(static_cast<size_t>(table_.size(0))),
      blocks_(static_cast<size_t>((table_.size(0) + kBlock - 1) / kBlock)) {}

void MappedTable::fill(int64_t block) const {
  const int64_t begin = block * kBlock;
  const int64_t end = std::min(begin + kBlock, table_.size(0));
  if (mapped_.raw() != table_.raw()) {
    const Array features = table_.rows(begin, end).to(NumberType::kFloat32);
    Array rows = mapped_.rows(begin, end);
    mutable_matrix_of<float>(rows) = padded_rows(matrix_of<float>(features), map_.get());
  }
  for (int64_t i = begin; i < end; ++i) squares_[static_cast<size_t>(i)] = row_dot(row(i), row(i), stride_);
}

void MappedTable::need(const std::vector<int64_t>& rows) const {
  for (const int64_t row : rows) {
    if (row < 0) continue;
    Block& block = blocks_[static_cast<size_t>(row / kBlock)];
    if (block.filled.load(std::memory_order_acquire)) continue;
    std::call_once(block.once, [&] {
      fill(row / kBlock);
      block.filled.store(true, std::memory_order_release);
    });
  }
}

}  // namespace protocom
