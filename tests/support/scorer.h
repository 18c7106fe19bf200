#pragma once
#include <ATen/ATen.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "fewshot/method.h"
#include "fewshot/row_batch.h"
#include "heads/episode_batch.h"
#include "support/matrices.h"

namespace protocom::testing {

/// A method's scores of a batch, as tensors.
struct TensorScores {
  at::Tensor logits;           ///< [b, q, n]
  at::Tensor prototypes = {};  ///< [b, n, d]; undefined: none
  at::Tensor unseen = {};      ///< [b, q]; undefined: none
};

/// A prepared method that answers episodes given as tensors, one task after the other.
class Scorer {
 public:
  explicit Scorer(PreparedMethod prepared) : prepared_(std::move(prepared)) {}
  Scorer(const Method& method, const MethodContext& context) : Scorer(method.prepare(context)) {}

  [[nodiscard]] const PreparedMethod& prepared() const { return prepared_; }

  [[nodiscard]] TensorScores score(const EpisodeBatch& batch) const {
    check_batch(batch, prepared_.fewest_shots);
    TensorScores scores{at::empty({batch.size(), batch.query.size(1), batch.support.size(1)})};
    std::vector<at::Tensor> prototypes, unseen;
    const auto run = prepared_.make_run();
    for (int64_t i = 0; i < batch.size(); ++i) {
      const FloatMatrix rows = padded_rows(float_matrix_of(rows_of(batch, i)), nullptr);
      const MappedTask mapped(task_of(batch, i, rows), prepared_.space.get());
      run->answer(mapped.task(), scores.logits.data_ptr<float>() + i * scores.logits.stride(0));
      if (run->prototypes() != nullptr) prototypes.push_back(prototypes_of(*run, mapped.task()));
      if (run->unseen() != nullptr)
        unseen.push_back(at::tensor(std::vector<float>(run->unseen(), run->unseen() + batch.query.size(1))));
    }
    if (!prototypes.empty()) scores.prototypes = at::stack(prototypes);
    if (!unseen.empty()) scores.unseen = at::stack(unseen);
    return scores;
  }

 private:
  static at::Tensor present(const EpisodeBatch& batch, int64_t i) {
    return batch.support_mask[i].flatten().nonzero().flatten();
  }

  /// Returns the present supports, the pool and the queries of an episode, [points, d].
  static at::Tensor rows_of(const EpisodeBatch& batch, int64_t i) {
    at::Tensor support = batch.support[i].flatten(0, 1);
    if (batch.support_mask.defined()) support = support.index_select(0, present(batch, i));
    if (!batch.unlabelled.defined()) return at::cat({support, batch.query[i]});
    return at::cat({support, batch.unlabelled[i], batch.query[i]});
  }

  static Task task_of(const EpisodeBatch& batch, int64_t i, const FloatMatrix& rows) {
    Task task;
    task.n = batch.support.size(1);
    task.width = batch.query.size(2);
    task.dim = rows.cols();
    task.queries = batch.query.size(1);
    task.unlabelled = batch.unlabelled.defined() ? batch.unlabelled.size(1) : task.queries;
    at::Tensor label = at::arange(task.n, at::kLong).repeat_interleave(batch.support.size(2));
    if (batch.support_mask.defined()) {
      const at::Tensor there = present(batch, i);
      label = label.index_select(0, there);
      const at::Tensor weights = batch.support_mask[i].flatten().index_select(0, there).contiguous();
      if (weights.ne(1).any().item<bool>())
        task.weights.assign(weights.data_ptr<float>(), weights.data_ptr<float>() + weights.numel());
    }
    task.label = numbers_of(label);
    if (batch.classes.defined()) task.classes = numbers_of(batch.classes[i].contiguous());
    if (batch.shares.defined()) {
      const at::Tensor shares = batch.shares[i].to(at::kFloat).contiguous();
      task.shares.assign(shares.data_ptr<float>(), shares.data_ptr<float>() + task.n);
    }
    if (!batch.seed.empty()) task.seed = batch.seed[static_cast<size_t>(i)];
    for (int64_t row = 0; row < rows.rows(); ++row) task.rows.push_back(rows.row(row).data());
    return task;
  }

  static at::Tensor prototypes_of(const TaskRun& run, const Task& task) {
    const Eigen::Map<const FloatMatrix> rows(run.prototypes(), task.n, task.dim);
    return tensor_of(array_of_matrix(rows.leftCols(task.width)));
  }

  PreparedMethod prepared_;
};

inline TensorScores scores_of(const Method& method, const MethodContext& context, const EpisodeBatch& batch) {
  return Scorer(method, context).score(batch);
}

/// Returns a group's scores as tensors.
inline TensorScores tensors_of(const EpisodeScores& scores) {
  const auto tensor = [](const Array& array) { return array.defined() ? tensor_of(array) : at::Tensor(); };
  return {tensor(scores.logits), tensor(scores.prototypes), tensor(scores.unseen)};
}

/// Returns the scores of one task's queries, [q, n] and [q].
inline TensorScores tensors_of(const QueryScores& scores) {
  return {tensor_of(array_of_matrix(scores.logits)),
          {},
          scores.unseen.size() > 0 ? tensor_of(array_of_matrix(scores.unseen)).flatten() : at::Tensor()};
}

}  // namespace protocom::testing
