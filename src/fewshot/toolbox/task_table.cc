#include "fewshot/toolbox/detail/task_table.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.h"
#include "fewshot/toolbox/detail/row_kernels.h"
#include "fewshot/toolbox/detail/row_products.h"

namespace protocom {
namespace {

/// Fills a task's lists from their beginning on, which keep their memory.
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
  /// What was added is all.
  void finish() {
    rows_.resize(count_);
    squares_.resize(count_);
  }

 private:
  std::vector<const float*>& rows_;
  Floats& squares_;
  size_t count_ = 0;
};

/// Episode `number` of a batch, in the memory of the one before.
void place(const MappedTable& table, const RowBatch& rows, int64_t number, int64_t fewest_shots, Task& task) {
  Placing placing(task, rows.n * rows.k + rows.u + rows.q);
  task.label.clear();
  for (int64_t k = 0; k < rows.n; ++k) {
    const int64_t* own = rows.support.data() + (number * rows.n + k) * rows.k;
    for (int64_t j = 0; j < rows.k; ++j) {
      if (own[j] >= 0) placing.add(table.row(own[j]), table.square(own[j]));
    }
    if (placing.count() < task.label.size() + static_cast<size_t>(fewest_shots))
      fail("every class needs at least one support");
    task.label.resize(placing.count(), k);
  }
  const auto add = [&](const std::vector<int64_t>& from, int64_t count) {
    for (int64_t i = number * count; i < (number + 1) * count; ++i) {
      const int64_t row = from[static_cast<size_t>(i)];
      placing.add(table.row(row), table.square(row));
    }
  };
  add(rows.unlabelled, rows.u);
  add(rows.query, rows.q);
  placing.finish();
  const auto of_classes = rows.classes.begin() + number * rows.n;
  if (!rows.classes.empty()) task.classes.assign(of_classes, of_classes + rows.n);
  const auto shares = rows.shares.begin() + number * rows.n;
  if (!rows.shares.empty()) task.shares.assign(shares, shares + rows.n);
}

/// Rows [b, m, d] as tasks read them, on the CPU and filled up with zeros.
at::Tensor plain_rows(const at::Tensor& rows) { return padded_row(rows.to(at::kCPU, at::kFloat)).contiguous(); }

/// The episodes of a batch, one after the other.
class TensorTasks {
 public:
  explicit TensorTasks(const EpisodeBatch& batch)
      : batch_(batch), support_(plain_rows(batch.support.flatten(1, 2))), query_(plain_rows(batch.query)) {
    if (batch.support_mask.defined()) {
      there_ = batch.support_mask.flatten(1, 2).to(at::kCPU, at::kFloat).contiguous();
      in_part_ = there_.ne(there_.round()).any().item<bool>();
    }
    if (batch.unlabelled.defined()) pool_ = plain_rows(batch.unlabelled);
    if (batch.classes.defined()) classes_ = batch.classes.to(at::kCPU, at::kLong).contiguous();
    if (batch.shares.defined()) shares_ = batch.shares.to(at::kCPU, at::kFloat).contiguous();
    task_.n = batch.support.size(1);
    task_.width = batch.query.size(2);
    task_.dim = query_.size(2);
    task_.queries = query_.size(1);
    task_.unlabelled = pool_.defined() ? pool_.size(1) : task_.queries;
  }

  /// Of every task; its lists are those of one.
  [[nodiscard]] const Task& shape() const { return task_; }
  /// Valid until the next call.
  const Task& task(int64_t number) {
    const int64_t shots = batch_.support.size(2);
    Placing placing(task_, support_.size(1) + task_.unlabelled + task_.queries);
    task_.label.clear();
    task_.weights.clear();
    const float* there = there_.defined() ? there_.data_ptr<float>() + number * there_.size(1) : nullptr;
    for (int64_t i = 0; i < support_.size(1); ++i) {
      if (there != nullptr && there[i] == 0) continue;
      add(support_, number, i, placing);
      task_.label.push_back(i / shots);
      if (in_part_) task_.weights.push_back(there[i]);
    }
    for (int64_t i = 0; pool_.defined() && i < pool_.size(1); ++i) add(pool_, number, i, placing);
    for (int64_t i = 0; i < task_.queries; ++i) add(query_, number, i, placing);
    placing.finish();
    if (classes_.defined()) {
      const int64_t* own = classes_.data_ptr<int64_t>() + number * task_.n;
      task_.classes.assign(own, own + task_.n);
    }
    if (shares_.defined()) {
      const float* own = shares_.data_ptr<float>() + number * task_.n;
      task_.shares.assign(own, own + task_.n);
    }
    return task_;
  }

 private:
  void add(const at::Tensor& rows, int64_t number, int64_t i, Placing& placing) const {
    const float* row = rows.data_ptr<float>() + (number * rows.size(1) + i) * task_.dim;
    placing.add(row, row_dot(row, row, task_.dim));
  }

  const EpisodeBatch& batch_;
  at::Tensor support_, query_, pool_;    // [b, n * k, dim], [b, q, dim], [b, u, dim]
  at::Tensor there_, classes_, shares_;  // [b, n * k], [b, n], [b, n]
  bool in_part_ = false;                 // some supports count in part
  Task task_;
};

/// What a method says of a batch, episode by episode.
class Answers {
 public:
  /// Of `b` episodes of the shape of one.
  Answers(const MakeTaskRun& make, int64_t b, const Task& shape)
      : run_(make()), logits_(at::empty({b, shape.queries, shape.n})) {}

  void add(int64_t i, const Task& task) {
    run_->answer(task, row(logits_, i));
    add_prototypes(i, task);
    const float* unseen = run_->unseen();
    if (unseen == nullptr) return;
    if (!unseen_.defined()) unseen_ = at::empty({logits_.size(0), task.queries});
    std::copy_n(unseen, task.queries, row(unseen_, i));
  }
  [[nodiscard]] EpisodeScores scores() const { return {logits_, prototypes_, unseen_}; }

 private:
  static float* row(const at::Tensor& all, int64_t i) { return all.data_ptr<float>() + i * all.stride(0); }

  void add_prototypes(int64_t i, const Task& task) {
    const float* vectors = run_->prototypes();
    if (vectors == nullptr) return;
    if (!prototypes_.defined()) prototypes_ = at::empty({logits_.size(0), task.n, task.width});
    float* out = row(prototypes_, i);
    for (int64_t k = 0; k < task.n; ++k) std::copy_n(vectors + k * task.dim, task.width, out + k * task.width);
  }

  std::unique_ptr<TaskRun> run_;
  at::Tensor logits_;      // [b, q, n]
  at::Tensor prototypes_;  // [b, n, width], where the method has any
  at::Tensor unseen_;      // [b, q], likewise
};

class TaskScorer : public Scorer {
 public:
  TaskScorer(MakeTaskRun make, std::shared_ptr<const FeatureTransform> map, int64_t fewest_shots)
      : make_(std::move(make)), map_(std::move(map)), fewest_shots_(fewest_shots) {}
  [[nodiscard]] std::shared_ptr<const FeatureTransform> feature_transform() const override { return map_; }

 private:
  [[nodiscard]] int64_t fewest_shots() const override { return fewest_shots_; }
  [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
    TensorTasks tasks(batch);
    Answers answers(make_, batch.size(), tasks.shape());
    for (int64_t i = 0; i < batch.size(); ++i) answers.add(i, tasks.task(i));
    EpisodeScores scores = answers.scores();
    for (at::Tensor* part : {&scores.logits, &scores.prototypes, &scores.unseen})
      if (part->defined()) *part = part->to(batch.query.device());
    return scores;
  }

  MakeTaskRun make_;
  std::shared_ptr<const FeatureTransform> map_;
  int64_t fewest_shots_;
};

}  // namespace

void TaskTable::add(MakeTaskRun make, int64_t fewest_shots) {
  makers_.push_back(std::move(make));
  fewest_shots_ = std::max(fewest_shots_, fewest_shots);
}

std::vector<EpisodeScores> TaskTable::score(const RowBatch& rows) const {
  if (rows.n < 1) fail("an episode needs at least one class");
  for (const auto* part : {&rows.support, &rows.query, &rows.unlabelled}) table_->need(*part);
  Task task;
  task.n = rows.n;
  task.width = table_->rows().size(1);
  task.dim = table_->stride();
  task.unlabelled = rows.u > 0 ? rows.u : rows.q;
  task.queries = rows.q;
  std::vector<Answers> answers;
  for (const MakeTaskRun& make : makers_) answers.emplace_back(make, rows.size(), task);
  for (int64_t i = 0; i < rows.size(); ++i) {
    place(*table_, rows, i, fewest_shots_, task);
    for (Answers& own : answers) own.add(i, task);
  }
  std::vector<EpisodeScores> scores;
  for (const Answers& own : answers) scores.push_back(own.scores());
  return scores;
}

std::unique_ptr<Scorer> task_scorer(MakeTaskRun make, std::shared_ptr<const FeatureTransform> map,
                                    int64_t fewest_shots) {
  return std::make_unique<TaskScorer>(std::move(make), std::move(map), fewest_shots);
}

}  // namespace protocom
