#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "fewshot/mapped_table.h"
#include "fewshot/paper/completer.h"
#include "fewshot/row_batch.h"
#include "fewshot/task.h"

namespace protocom {

/// Returns the completed prototypes of a task's classes as rows [n, dim], padded with zeros. Throws Error if the
/// classes are unknown.
FloatMatrix completed_prototypes(const Completer& completer, const Task& task);

/// Completed prototypes of episodes that are rows of a table. With one shot a completion depends only on the support's
/// row, and a list of episodes draws the same rows many times, so each is completed once and cached. Thread-safe.
class CompletedRows {
 public:
  CompletedRows(std::shared_ptr<const MappedTable> table, std::shared_ptr<const Completer> completer);

  /// The completed prototypes of a batch; valid as long as this object and `kept`.
  struct Batch {
    std::vector<const float*> prototypes;  ///< [b * n], rows of the table's stride
    FloatMatrix kept;
  };
  /// Returns the completed prototypes. The batch's rows must have their values in the table (MappedTable::need).
  [[nodiscard]] Batch of(const RowBatch& rows) const;

 private:
  struct Remembered {
    int64_t label = 0;
    const float* prototype = nullptr;
  };

  void remember_new(const RowBatch& rows) const;
  [[nodiscard]] Batch of_means(const RowBatch& rows) const;

  std::shared_ptr<const MappedTable> table_;
  std::shared_ptr<const Completer> completer_;
  mutable std::vector<std::atomic<const Remembered*>> of_row_;  // [m]
  mutable std::mutex mutex_;
  mutable std::deque<Remembered> entries_;
  mutable std::deque<FloatMatrix> blocks_;
};

}  // namespace protocom
