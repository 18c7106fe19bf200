#include "fewshot/paper/detail/completed_rows.h"

#include <algorithm>

#include "base/error.h"

namespace protocom {
namespace {

/// Computes the mean of rows, added in their order, [width].
void compute_mean(const float* const* rows, int64_t count, int64_t width, float* mean) {
  std::fill_n(mean, width, 0.0F);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t d = 0; d < width; ++d) mean[d] += rows[i][d];
  }
  for (int64_t d = 0; d < width; ++d) mean[d] /= static_cast<float>(count);
}

/// Returns the mean of the supports of every class, [b * n, width].
FloatMatrix means_of(const MappedTable& table, const RowBatch& rows) {
  FloatMatrix means(rows.size() * rows.n, table.width());
  std::vector<const float*> own;
  for (int64_t i = 0; i < means.rows(); ++i) {
    own.clear();
    for (int64_t k = i * rows.k; k < (i + 1) * rows.k; ++k) {
      const int64_t row = rows.support[static_cast<size_t>(k)];
      if (row >= 0) own.push_back(table.row(row));
    }
    compute_mean(own.data(), static_cast<int64_t>(own.size()), means.cols(), means.row(i).data());
  }
  return means;
}

FloatMatrix completed(const Completer& completer, const FloatMatrix& means, const std::vector<int64_t>& classes) {
  return padded_rows(completer.complete(means, classes), nullptr);
}

}  // namespace

FloatMatrix completed_prototypes(const Completer& completer, const Task& task) {
  if (task.classes.empty()) fail("this method needs the class names of each episode");
  FloatMatrix means(task.n, task.width);
  for (int64_t k = 0, next = 0; k < task.n; ++k) {
    const int64_t first = next;
    while (next < task.supports() && task.label[static_cast<size_t>(next)] == k) ++next;
    compute_mean(task.rows.data() + first, next - first, task.width, means.row(k).data());
  }
  return completed(completer, means, task.classes);
}

CompletedRows::CompletedRows(std::shared_ptr<const MappedTable> table, std::shared_ptr<const Completer> completer)
    : table_(std::move(table)),
      completer_(std::move(completer)),
      of_row_(static_cast<size_t>(table_->table().size(0))) {}

void CompletedRows::remember_new(const RowBatch& rows) const {
  std::vector<int64_t> fresh;
  std::vector<int64_t> labels;
  for (size_t i = 0; i < rows.support.size(); ++i) {
    if (of_row_[static_cast<size_t>(rows.support[i])].load(std::memory_order_acquire) != nullptr) continue;
    fresh.push_back(rows.support[i]);
    labels.push_back(rows.classes[i]);
  }
  if (fresh.empty()) return;
  FloatMatrix features(static_cast<int64_t>(fresh.size()), table_->width());
  for (size_t i = 0; i < fresh.size(); ++i)
    std::copy_n(table_->row(fresh[i]), features.cols(), features.row(static_cast<int64_t>(i)).data());
  FloatMatrix block = completed(*completer_, features, labels);
  const std::lock_guard lock(mutex_);
  const FloatMatrix& kept = blocks_.emplace_back(std::move(block));
  for (size_t i = 0; i < fresh.size(); ++i) {
    entries_.push_back({labels[i], kept.row(static_cast<int64_t>(i)).data()});
    of_row_[static_cast<size_t>(fresh[i])].store(&entries_.back(), std::memory_order_release);
  }
}

CompletedRows::Batch CompletedRows::of_means(const RowBatch& rows) const {
  Batch batch{{}, completed(*completer_, means_of(*table_, rows), rows.classes)};
  for (int64_t i = 0; i < batch.kept.rows(); ++i) batch.prototypes.push_back(batch.kept.row(i).data());
  return batch;
}

CompletedRows::Batch CompletedRows::of(const RowBatch& rows) const {
  const bool all_there = std::all_of(rows.support.begin(), rows.support.end(), [](int64_t row) { return row >= 0; });
  if (rows.k > 1 || !all_there) return of_means(rows);
  remember_new(rows);
  Batch batch;
  for (size_t i = 0; i < rows.support.size(); ++i) {
    const Remembered& found = *of_row_[static_cast<size_t>(rows.support[i])].load(std::memory_order_acquire);
    if (found.label != rows.classes[i]) return of_means(rows);  // the row belongs to several classes
    batch.prototypes.push_back(found.prototype);
  }
  return batch;
}

}  // namespace protocom
