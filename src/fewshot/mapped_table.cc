#include "fewshot/detail/mapped_table.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "fewshot/detail/row_length.h"

namespace protocom {
namespace {

/// Room for a table [m, width] whose rows are filled up.
at::Tensor rows_for(int64_t count, int64_t width) {
  return at::empty({count, padded_length(width)}).narrow(1, 0, width);
}

int64_t width_after(const FeatureTransform& map, const at::Tensor& table) {
  return map.map(table.narrow(0, 0, 0).to(at::kFloat)).size(1);
}

}  // namespace

MappedTable::MappedTable(at::Tensor table, std::shared_ptr<const FeatureTransform> map)
    : table_(std::move(table)),
      map_(std::move(map)),
      mapped_(rows_for(table_.size(0), width_after(*map_, table_))),
      lengths_(at::empty({table_.size(0)})),
      stride_(mapped_.stride(0)),
      first_(mapped_.data_ptr<float>()),
      squares_(lengths_.data_ptr<float>()),
      blocks_(static_cast<size_t>((table_.size(0) + kBlock - 1) / kBlock)) {}

void MappedTable::fill(int64_t block) const {
  const int64_t begin = block * kBlock;
  const int64_t rows = std::min(kBlock, table_.size(0) - begin);
  const int64_t width = mapped_.size(1);
  at::Tensor whole = mapped_.narrow(0, begin, rows).as_strided({rows, stride()}, {stride(), 1});
  whole.narrow(1, width, stride() - width).zero_();
  const at::Tensor values = map_->map(table_.narrow(0, begin, rows).to(at::kFloat));
  whole.narrow(1, 0, width).copy_(values);
  lengths_.narrow(0, begin, rows).copy_(values.square().sum(1));
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
