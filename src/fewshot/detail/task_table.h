#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fewshot/fast_form.h"
#include "fewshot/task.h"

namespace protocom {

/// The episodes of a batch as tasks on a table, one at a time in the same memory.
class TableTasks {
 public:
  /// Maps the rows that the batch reads; table and rows must outlive the object.
  TableTasks(const MappedTable& table, const RowBatch& rows);

  /// The shape of every task; its lists belong to one of them.
  [[nodiscard]] const Task& shape() const { return task_; }
  /// Returns episode `number`, valid until the next call. Throws Error if a class has fewer supports.
  const Task& task(int64_t number, int64_t fewest_shots);

 private:
  const MappedTable& table_;
  const RowBatch& rows_;
  Task task_;
};

/// Collects the answers for a batch.
class BatchAnswers {
 public:
  /// Allocates answers for `b` episodes of the same shape.
  BatchAnswers(int64_t b, const Task& shape);
  ~BatchAnswers() = default;
  BatchAnswers(const BatchAnswers&) = delete;  // copies of an Array share its memory
  BatchAnswers& operator=(const BatchAnswers&) = delete;
  BatchAnswers(BatchAnswers&&) = default;
  BatchAnswers& operator=(BatchAnswers&&) = default;
  /// Adds the answer of a run for episode `i`.
  void add(int64_t i, const Task& task, TaskRun& run);
  /// Returns the memory for the logits of episode `i`, [q, n].
  [[nodiscard]] float* logits(int64_t i);
  /// Adds the prototypes [n, dim] of episode `i`.
  void add_prototypes(int64_t i, const Task& task, const float* prototypes);
  [[nodiscard]] const EpisodeScores& scores() const { return scores_; }

 private:
  EpisodeScores scores_;
};

/// Methods that answer one task at a time and compare features in one space, for episodes that are rows of a table:
/// mapped rows are read in place, and each task is assembled once for all methods.
class TaskTable : public FastForm {
 public:
  explicit TaskTable(std::shared_ptr<const MappedTable> table) : table_(std::move(table)) {}

  [[nodiscard]] const MappedTable& table() const { return *table_; }
  /// Adds a method whose classes need `fewest_shots` supports.
  void add(MakeTaskRun make, int64_t fewest_shots);
  /// Throws Error if a class has fewer supports.
  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const override;

 private:
  std::shared_ptr<const MappedTable> table_;
  std::vector<MakeTaskRun> makers_;
  int64_t fewest_shots_ = 0;
};

}  // namespace protocom
