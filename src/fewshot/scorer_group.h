#pragma once
#include <memory>
#include <vector>

#include "fewshot/methods.h"
#include "fewshot/row_batch.h"

namespace protocom {

/// Several methods, prepared for one table of features. Methods that share work answer together (Method::join). The
/// scores of each are the same to the last bit however rows are batched and on any number of threads. Thread-safe.
class ScorerGroup {
 public:
  /// Throws Error when a method's needs are not met (check_needs) or sizes do not fit. `table` is float32 [m, d]; a row
  /// of it and of the context's maps is one image. All arguments must outlive the group.
  ScorerGroup(const Methods& methods, const MethodContext& context, const Array& table);
  ~ScorerGroup();

  /// Returns the scores of each method, in the order of the methods. Rows must exist.
  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom
