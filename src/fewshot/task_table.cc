#include "fewshot/detail/task_table.h"

#include <algorithm>

#include "base/error.h"

namespace protocom {
namespace {

/// Refills the lists of a task from the start, reusing their memory.
class Placing {
 public:
  Placing(Task& task, int64_t most) : rows_(task.rows), squares_(task.squares) {
    rows_.resize(static_cast<size_t>(most));
    squares_.resize(static_cast<size_t>(most));
  }

  void add(const float* row, float square) {
    rows_[count_] = row;
    squares_[count_++] = square;
  }
  [[nodiscard]] size_t count() const { return count_; }
  /// Cuts the lists to what was added.
  void finish() {
    rows_.resize(count_);
    squares_.resize(count_);
  }

 private:
  std::vector<const float*>& rows_;
  Floats& squares_;
  size_t count_ = 0;
};

/// Returns row `i` of an array [b, ...].
float* row_of(Array& all, int64_t i) { return all.mutable_data<float>() + i * (all.numel() / all.size(0)); }

}  // namespace

TableTasks::TableTasks(const MappedTable& table, const RowBatch& rows) : table_(table), rows_(rows) {
  if (rows.n < 1) fail("an episode needs at least one class");
  for (const auto* part : {&rows.support, &rows.query, &rows.unlabelled}) table.need(*part);
  task_.n = rows.n;
  task_.width = table.width();
  task_.dim = table.stride();
  task_.unlabelled = rows.u > 0 ? rows.u : rows.q;
  task_.queries = rows.q;
}

const Task& TableTasks::task(int64_t number, int64_t fewest_shots) {
  const RowBatch& rows = rows_;
  Placing placing(task_, rows.n * rows.k + rows.u + rows.q);
  task_.label.clear();
  for (int64_t k = 0; k < rows.n; ++k) {
    const int64_t* own = rows.support.data() + (number * rows.n + k) * rows.k;
    for (int64_t j = 0; j < rows.k; ++j) {
      if (own[j] >= 0) placing.add(table_.row(own[j]), table_.square(own[j]));
    }
    if (placing.count() < task_.label.size() + static_cast<size_t>(fewest_shots))
      fail("class {}: expected at least one support, found none", k);
    task_.label.resize(placing.count(), k);
  }
  const auto add = [&](const std::vector<int64_t>& from, int64_t count) {
    for (int64_t i = number * count; i < (number + 1) * count; ++i) {
      const int64_t row = from[static_cast<size_t>(i)];
      placing.add(table_.row(row), table_.square(row));
    }
  };
  add(rows.unlabelled, rows.u);
  add(rows.query, rows.q);
  placing.finish();
  const auto of_classes = rows.classes.begin() + number * rows.n;
  if (!rows.classes.empty()) task_.classes.assign(of_classes, of_classes + rows.n);
  const auto shares = rows.shares.begin() + number * rows.n;
  if (!rows.shares.empty()) task_.shares.assign(shares, shares + rows.n);
  task_.seed = rows.seed[static_cast<size_t>(number)];
  return task_;
}

BatchAnswers::BatchAnswers(int64_t b, const Task& shape) : scores_{Array::uninitialised({b, shape.queries, shape.n})} {}

void BatchAnswers::add(int64_t i, const Task& task, TaskRun& run) {
  run.answer(task, logits(i));
  if (run.prototypes() != nullptr) add_prototypes(i, task, run.prototypes());
  const float* unseen = run.unseen();
  if (unseen == nullptr) return;
  if (!scores_.unseen.defined()) scores_.unseen = Array::uninitialised({scores_.logits.size(0), task.queries});
  std::copy_n(unseen, task.queries, row_of(scores_.unseen, i));
}

float* BatchAnswers::logits(int64_t i) { return row_of(scores_.logits, i); }

void BatchAnswers::add_prototypes(int64_t i, const Task& task, const float* prototypes) {
  if (!scores_.prototypes.defined())
    scores_.prototypes = Array::uninitialised({scores_.logits.size(0), task.n, task.width});
  float* out = row_of(scores_.prototypes, i);
  for (int64_t k = 0; k < task.n; ++k) std::copy_n(prototypes + k * task.dim, task.width, out + k * task.width);
}

void TaskTable::add(MakeTaskRun make, int64_t fewest_shots) {
  makers_.push_back(std::move(make));
  fewest_shots_ = std::max(fewest_shots_, fewest_shots);
}

std::vector<EpisodeScores> TaskTable::score(const RowBatch& rows) const {
  TableTasks tasks(*table_, rows);
  std::vector<std::unique_ptr<TaskRun>> runs;
  for (const MakeTaskRun& make : makers_) runs.push_back(make());
  std::vector<BatchAnswers> answers;
  for (size_t m = 0; m < runs.size(); ++m) answers.emplace_back(rows.size(), tasks.shape());
  for (int64_t i = 0; i < rows.size(); ++i) {
    const Task& task = tasks.task(i, fewest_shots_);
    for (size_t m = 0; m < runs.size(); ++m) answers[m].add(i, task, *runs[m]);
  }
  std::vector<EpisodeScores> scores;
  for (const BatchAnswers& own : answers) scores.push_back(own.scores());
  return scores;
}

}  // namespace protocom
