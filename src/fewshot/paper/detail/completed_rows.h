#pragma once
#include <ATen/core/Tensor.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "fewshot/paper/completer.h"
#include "fewshot/row_batch.h"

namespace protocom {

/// Completed prototypes of episodes that are rows of a table. With one shot a completion depends on the support's row
/// alone, and a list of episodes draws the same rows again and again: each is then completed once and remembered.
/// Thread-safe.
class CompletedRows {
 public:
  /// `completer` must outlive it; `dim` floats a completed row, filled up with zeros.
  CompletedRows(at::Tensor table, const Completer& completer, int64_t dim);

  /// The completed prototypes of a batch; they live as long as this and `kept`.
  struct Batch {
    std::vector<const float*> prototypes;  ///< [b * n]
    at::Tensor kept;
  };
  [[nodiscard]] Batch of(const RowBatch& rows) const;

 private:
  struct Remembered {
    int64_t label = 0;
    const float* prototype = nullptr;
  };

  [[nodiscard]] at::Tensor complete(const at::Tensor& prototypes, const std::vector<int64_t>& classes) const;
  void remember_new(const RowBatch& rows) const;
  [[nodiscard]] Batch of_means(const RowBatch& rows) const;

  at::Tensor table_;
  const Completer& completer_;
  int64_t dim_;
  mutable std::vector<std::atomic<const Remembered*>> of_row_;  // [m]
  mutable std::mutex mutex_;
  mutable std::deque<Remembered> entries_;
  mutable std::vector<at::Tensor> blocks_;
};

}  // namespace protocom
