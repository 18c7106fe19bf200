#pragma once
#include <memory>
#include <vector>

#include "fewshot/methods.h"
#include "fewshot/row_batch.h"

namespace protocom {

/// Several methods, prepared for one table of features. Methods that share work answer together (Method::join). What
/// one gives is the same to the last bit however rows are batched and on any number of threads. Thread-safe.
class ScorerGroup {
 public:
  /// Throws Error when a method's needs are not met (check_needs) or sizes do not fit. `table` is float32 [m, d], a
  /// row of it and of the context's maps is one image; all that is given must outlive the group.
  ScorerGroup(const Methods& methods, const MethodContext& context, const Array& table);
  ~ScorerGroup();

  /// The scores of each method, in their order. Rows must exist.
  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom
