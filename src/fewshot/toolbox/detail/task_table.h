#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fewshot/detail/fast_form.h"
#include "fewshot/detail/task.h"

namespace protocom {

/// Methods that answer one task after the other and compare features in one space, for episodes that are rows of a
/// table: rows after the space's map are read where they lie, and a task is put together once for all methods.
class TaskTable : public FastForm {
 public:
  explicit TaskTable(std::shared_ptr<const MappedTable> table) : table_(std::move(table)) {}

  [[nodiscard]] const MappedTable& table() const { return *table_; }
  /// Takes one more method, whose classes need `fewest_shots` supports.
  void add(MakeTaskRun make, int64_t fewest_shots);
  /// Throws Error where a class has fewer supports.
  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const override;

 private:
  std::shared_ptr<const MappedTable> table_;
  std::vector<MakeTaskRun> makers_;
  int64_t fewest_shots_ = 0;
};

/// The same for episodes that are tensors.
std::unique_ptr<Scorer> task_scorer(MakeTaskRun make, std::shared_ptr<const FeatureTransform> map,
                                    int64_t fewest_shots);

}  // namespace protocom
