#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fewshot/fast_form.h"
#include "fewshot/task.h"

namespace protocom {

/// The episodes of a batch as tasks on a table, one after the other in the same memory.
class TableTasks {
 public:
  /// Maps the rows that the batch reads; both must outlive it.
  TableTasks(const MappedTable& table, const RowBatch& rows);

  /// Of every task; its lists are those of one.
  [[nodiscard]] const Task& shape() const { return task_; }
  /// Episode `number`. Valid until the next call. Throws Error if a class has fewer supports.
  const Task& task(int64_t number, int64_t fewest_shots);

 private:
  const MappedTable& table_;
  const RowBatch& rows_;
  Task task_;
};

/// Where the answers about a batch go.
class BatchAnswers {
 public:
  /// Of `b` episodes of the shape of one.
  BatchAnswers(int64_t b, const Task& shape);
  ~BatchAnswers() = default;
  BatchAnswers(const BatchAnswers&) = delete;  // copies of an Array share its memory
  BatchAnswers& operator=(const BatchAnswers&) = delete;
  BatchAnswers(BatchAnswers&&) = default;
  BatchAnswers& operator=(BatchAnswers&&) = default;
  /// The answer of a run about episode `i`.
  void add(int64_t i, const Task& task, TaskRun& run);
  /// Where the logits of episode `i` go, [q, n].
  [[nodiscard]] float* logits(int64_t i);
  /// Prototypes [n, dim] of episode `i`.
  void add_prototypes(int64_t i, const Task& task, const float* prototypes);
  [[nodiscard]] const EpisodeScores& scores() const { return scores_; }

 private:
  EpisodeScores scores_;
};

/// Methods that answer one task after the other and compare features in one space, for episodes that are rows of a
/// table: rows after the space's map are read where they lie, and a task is put together once for all methods.
class TaskTable : public FastForm {
 public:
  explicit TaskTable(std::shared_ptr<const MappedTable> table) : table_(std::move(table)) {}

  [[nodiscard]] const MappedTable& table() const { return *table_; }
  /// Takes one more method, whose classes need `fewest_shots` supports.
  void add(MakeTaskRun make, int64_t fewest_shots);
  /// Throws Error if a class has fewer supports.
  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const override;

 private:
  std::shared_ptr<const MappedTable> table_;
  std::vector<MakeTaskRun> makers_;
  int64_t fewest_shots_ = 0;
};

}  // namespace protocom
