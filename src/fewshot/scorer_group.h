#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "fewshot/methods.h"
#include "fewshot/row_batch.h"

namespace protocom {

/// Several methods, prepared for one table of features. Methods that have a hand-made fast form
/// (Method::join) use it; all others get tensors, those that need them of the context's feature maps,
/// a few episodes at a time. The fast form gives what the tensors give but for the rounding of sums, the same to the
/// last bit however rows are batched and on any number of threads (benchmarks/method_benchmark.cc says what it is
/// worth). Thread-safe.
class ScorerGroup {
 public:
  /// Throws Error when a method's needs are not met (check_needs) or sizes do not fit. `table` is float32 [m, d], a
  /// row of it and of the context's maps is one image; all that is given must outlive the group.
  ScorerGroup(const Methods& methods, const MethodContext& context, const at::Tensor& table);
  ~ScorerGroup();

  /// The scores of each method, in their order. Rows must exist.
  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom
