#include "fewshot/paper/detail/completed_rows.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace protocom {
namespace {

/// The means of the supports of every class, each added in the order of its rows: [b * n, d].
at::Tensor means_of(const at::Tensor& table, const RowBatch& rows) {
  const int64_t dim = table.size(1);
  const float* values = table.data_ptr<float>();
  at::Tensor means = at::zeros({rows.size() * rows.n, dim});
  for (int64_t i = 0; i < means.size(0); ++i) {
    float* mean = means.data_ptr<float>() + i * dim;
    const int64_t* support = rows.support.data() + i * rows.k;
    int64_t count = 0;
    for (; count < rows.k && support[count] >= 0; ++count) {
      for (int64_t d = 0; d < dim; ++d) mean[d] += values[support[count] * dim + d];
    }
    for (int64_t d = 0; d < dim; ++d) mean[d] /= static_cast<float>(count);
  }
  return means;
}

}  // namespace

CompletedRows::CompletedRows(at::Tensor table, const Completer& completer, int64_t dim)
    : table_(std::move(table)), completer_(completer), dim_(dim), of_row_(static_cast<size_t>(table_.size(0))) {}

at::Tensor CompletedRows::complete(const at::Tensor& prototypes, const std::vector<int64_t>& classes) const {
  const at::Tensor completed = completer_.complete(prototypes, at::tensor(classes, at::kLong));
  return at::constant_pad_nd(completed, {0, dim_ - completed.size(1)}).contiguous();
}

void CompletedRows::remember_new(const RowBatch& rows) const {
  std::vector<int64_t> fresh;
  std::vector<int64_t> labels;
  for (size_t i = 0; i < rows.support.size(); ++i) {
    if (of_row_[static_cast<size_t>(rows.support[i])].load(std::memory_order_acquire) != nullptr) continue;
    fresh.push_back(rows.support[i]);
    labels.push_back(rows.classes[i]);
  }
  if (fresh.empty()) return;
  const at::Tensor block = complete(table_.index_select(0, at::tensor(fresh, at::kLong)), labels);
  const std::lock_guard lock(mutex_);
  blocks_.push_back(block);
  for (size_t i = 0; i < fresh.size(); ++i) {
    entries_.push_back({labels[i], block.data_ptr<float>() + static_cast<int64_t>(i) * dim_});
    of_row_[static_cast<size_t>(fresh[i])].store(&entries_.back(), std::memory_order_release);
  }
}

CompletedRows::Batch CompletedRows::of_means(const RowBatch& rows) const {
  Batch batch{{}, complete(means_of(table_, rows), rows.classes)};
  for (int64_t i = 0; i < batch.kept.size(0); ++i) batch.prototypes.push_back(batch.kept.data_ptr<float>() + i * dim_);
  return batch;
}

CompletedRows::Batch CompletedRows::of(const RowBatch& rows) const {
  if (rows.k > 1) return of_means(rows);
  remember_new(rows);
  Batch batch;
  for (size_t i = 0; i < rows.support.size(); ++i) {
    const Remembered& found = *of_row_[static_cast<size_t>(rows.support[i])].load(std::memory_order_acquire);
    if (found.label != rows.classes[i]) return of_means(rows);  // the row stands for several classes
    batch.prototypes.push_back(found.prototype);
  }
  return batch;
}

}  // namespace protocom
