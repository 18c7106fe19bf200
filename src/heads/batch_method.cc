#include "heads/batch_method.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "fewshot/fast_form.h"
#include "fewshot/row_length.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

/// Returns a copy of `count` rows [width] of floats, which may lie anywhere; null: zeros.
at::Tensor gathered(const float* const* rows, int64_t count, int64_t width) {
  at::Tensor all = at::zeros({count, width});
  auto* to = all.data_ptr<float>();
  for (int64_t i = 0; i < count; ++i, to += width) {
    if (rows[i] != nullptr) std::copy_n(rows[i], width, to);
  }
  return all;
}

/// Returns a task as a batch of one episode.
EpisodeBatch batch_of(const Task& task) {
  std::vector<int64_t> count(static_cast<size_t>(task.n));
  for (const int64_t k : task.label) ++count[static_cast<size_t>(k)];
  const int64_t most = *std::max_element(count.begin(), count.end());
  std::vector<const float*> support(static_cast<size_t>(task.n * most));
  at::Tensor mask = at::zeros({1, task.n, most});
  std::vector<int64_t> next(count.size());
  for (size_t i = 0; i < task.label.size(); ++i) {
    const int64_t place = task.label[i] * most + next[static_cast<size_t>(task.label[i])]++;
    support[static_cast<size_t>(place)] = task.rows[i];
    mask.data_ptr<float>()[place] = task.weights.empty() ? 1 : task.weights[i];
  }
  const auto rows = [&](int64_t first, int64_t number) {
    return gathered(task.rows.data() + first, number, task.width).unsqueeze(0);
  };
  EpisodeBatch batch;
  batch.support = gathered(support.data(), task.n * most, task.width).view({1, task.n, most, task.width});
  if (!mask.eq(1).all().item<bool>()) batch.support_mask = mask;
  batch.query = rows(task.first_query(), task.queries);
  if (task.first_query() > task.supports()) batch.unlabelled = rows(task.supports(), task.unlabelled);
  if (!task.classes.empty()) batch.classes = at::tensor(task.classes, at::kLong).unsqueeze(0);
  if (!task.shares.empty()) batch.shares = at::tensor(task.shares, at::kFloat).unsqueeze(0);
  batch.seed = {task.seed};
  return batch;
}

class BatchRun : public TaskRun {
 public:
  explicit BatchRun(std::shared_ptr<const BatchScorer> scorer) : scorer_(std::move(scorer)) {}

  void answer(const Task& task, float* logits) override {
    const at::NoGradGuard no_grad;
    BatchScores scores = scorer_->score(batch_of(task));
    const at::Tensor plain = scores.logits.to(at::kFloat).contiguous();
    std::copy_n(plain.data_ptr<float>(), plain.numel(), logits);
    prototypes_ = at::Tensor();
    if (!scores.prototypes.defined()) return;
    prototypes_ =
        at::constant_pad_nd(scores.prototypes.squeeze(0).to(at::kFloat), {0, task.dim - scores.prototypes.size(-1)})
            .contiguous();
  }
  [[nodiscard]] const float* prototypes() const override {
    return prototypes_.defined() ? prototypes_.data_ptr<float>() : nullptr;
  }

 private:
  std::shared_ptr<const BatchScorer> scorer_;
  at::Tensor prototypes_;  // [n, dim]
};

/// Returns rows of a table as a tensor of the given shape, followed by the row width.
at::Tensor gathered(const MappedTable& table, const std::vector<int64_t>& rows, std::vector<int64_t> shape) {
  std::vector<const float*> pointers;
  for (const int64_t row : rows) pointers.push_back(row < 0 ? nullptr : table.row(row));
  shape.push_back(table.width());
  return gathered(pointers.data(), static_cast<int64_t>(rows.size()), table.width()).view(shape);
}

/// Returns the episodes of a row batch as tensors.
EpisodeBatch batch_of(const MappedTable& table, const RowBatch& rows) {
  for (const auto* part : {&rows.support, &rows.query, &rows.unlabelled}) table.need(*part);
  const int64_t b = rows.size();
  EpisodeBatch batch;
  batch.support = gathered(table, rows.support, {b, rows.n, rows.k});
  if (std::any_of(rows.support.begin(), rows.support.end(), [](int64_t row) { return row < 0; }))
    batch.support_mask = at::tensor(rows.support, at::kLong).ge(0).to(at::kFloat).view({b, rows.n, rows.k});
  batch.query = gathered(table, rows.query, {b, rows.q});
  if (rows.u > 0) batch.unlabelled = gathered(table, rows.unlabelled, {b, rows.u});
  batch.classes = at::tensor(rows.classes, at::kLong).view({b, rows.n});
  batch.seed = rows.seed;
  if (!rows.shares.empty()) batch.shares = at::tensor(rows.shares, at::kFloat).view({b, rows.n});
  return batch;
}

/// Runs methods of batched tensors on one table, a few episodes at a time.
class BatchTable : public FastForm {
 public:
  explicit BatchTable(std::shared_ptr<const MappedTable> table) : table_(std::move(table)) {}

  [[nodiscard]] const MappedTable& table() const { return *table_; }
  void add(BatchScorer scorer) { scorers_.push_back(std::move(scorer)); }

  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const override {
    const at::NoGradGuard no_grad;
    std::vector<std::vector<BatchScores>> pieces(scorers_.size());
    const int64_t step = together(rows);
    for (int64_t begin = 0; begin < rows.size(); begin += step) {
      const EpisodeBatch batch = batch_of(*table_, part_of(rows, begin, std::min(begin + step, rows.size())));
      for (size_t m = 0; m < scorers_.size(); ++m) pieces[m].push_back(scorers_[m].score(batch));
    }
    std::vector<EpisodeScores> scores;
    for (const auto& own : pieces) scores.push_back(joined(own));
    return scores;
  }

 private:
  /// Returns how many episodes of this shape may be tensors at once.
  [[nodiscard]] int64_t together(const RowBatch& rows) const {
    constexpr int64_t kFloats = int64_t{4} << 20;  // 16 MB
    const int64_t images = std::max<int64_t>(1, rows.n * rows.k + rows.q + rows.u);
    return std::max<int64_t>(1, kFloats / (table_->width() * images));
  }

  static EpisodeScores joined(const std::vector<BatchScores>& pieces) {
    std::vector<at::Tensor> logits, prototypes;
    for (const BatchScores& piece : pieces) {
      logits.push_back(piece.logits);
      prototypes.push_back(piece.prototypes);
    }
    EpisodeScores scores{array_of(at::cat(logits).to(at::kFloat))};
    if (prototypes.front().defined()) scores.prototypes = array_of(at::cat(prototypes).to(at::kFloat));
    return scores;
  }

  std::shared_ptr<const MappedTable> table_;
  std::vector<BatchScorer> scorers_;
};

}  // namespace

BatchScores BatchScorer::score(const EpisodeBatch& batch) const {
  check_batch(batch, fewest_shots);
  return answer(batch);
}

PreparedMethod BatchMethod::prepare(const MethodContext& context) const {
  const auto made = std::make_shared<const BatchScorer>(scorer(context));
  PreparedMethod prepared;
  prepared.space = made->space;
  prepared.make_run = [made] { return std::make_unique<BatchRun>(made); };
  prepared.fewest_shots = made->fewest_shots;
  return prepared;
}

const FastForm* BatchMethod::join(FastForms& forms) const {
  BatchScorer made = scorer(forms.context());
  const Array& table = spec().has(Need::kFeatureMaps) ? forms.maps() : forms.table();
  auto& form = forms.shared<BatchTable>(forms.mapped(table, made.space));
  form.add(std::move(made));
  return &form;
}

at::Tensor mapped_tensor(const FeatureTransform& space, const at::Tensor& features) {
  const at::Tensor plain = features.to(at::kCPU, at::kFloat).contiguous();
  const int64_t dim = plain.size(-1);
  std::vector<int64_t> sizes = plain.sizes().vec();
  sizes.back() = space.width(dim);
  at::Tensor rows = at::empty(sizes);
  const int64_t count = dim == 0 ? 0 : plain.numel() / dim;
  space.map(Eigen::Map<const FloatMatrix>(plain.data_ptr<float>(), count, dim),
            Eigen::Map<FloatMatrix>(rows.data_ptr<float>(), count, sizes.back()));
  return rows.to(features.device());
}

}  // namespace protocom
