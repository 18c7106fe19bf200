#include "protocom/fewshot/scorer_group.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>

#include "fewshot/mapped_table.h"
#include "fewshot/paper/completed_rows.h"
#include "fewshot/paper/paper_row.h"
#include "fewshot/paper/paper_rows_run.h"
#include "fewshot/toolbox/row_kernels.h"
#include "protocom/core/error.h"
#include "protocom/core/thread_scope.h"
#include "protocom/fewshot/paper/completer.h"
#include "protocom/fewshot/paper/completion_model.h"

namespace protocom {
namespace {

at::Tensor select(const at::Tensor& table, const std::vector<int64_t>& rows, at::IntArrayRef shape) {
  return table.index_select(0, at::tensor(rows, at::kLong)).to(at::kFloat).view(shape);
}

/// As `select`, with zeros where a row is absent (-1): no row is read in its place, which may not be there yet.
at::Tensor select_present(const at::Tensor& table, const at::Tensor& rows, at::IntArrayRef shape) {
  const at::Tensor where = rows.ge(0).nonzero().flatten();
  const at::Tensor present = table.index_select(0, rows.index_select(0, where)).to(at::kFloat);
  return at::zeros({rows.size(0), table.size(1)}).index_copy_(0, where, present).view(shape);
}

/// The pointers of one episode of a batch, in memory that the next one uses again.
void place(const RowBatch& rows, int64_t number, const at::Tensor& padded, FastEpisode& episode) {
  const float* table = padded.data_ptr<float>();
  const int64_t dim = padded.size(1);
  episode.support.resize(static_cast<size_t>(rows.n));
  for (int64_t i = 0; i < rows.n; ++i) {
    auto& own = episode.support[static_cast<size_t>(i)];
    own.clear();
    const int64_t* support = rows.support.data() + (number * rows.n + i) * rows.k;
    for (int64_t j = 0; j < rows.k && support[j] >= 0; ++j) own.push_back(table + support[j] * dim);
  }
  const auto point = [&](const std::vector<int64_t>& from, int64_t count, std::vector<const float*>& to) {
    to.clear();
    for (int64_t i = number * count; i < (number + 1) * count; ++i)
      to.push_back(table + from[static_cast<size_t>(i)] * dim);
  };
  point(rows.query, rows.q, episode.query);
  point(rows.unlabelled, rows.u, episode.unlabelled);
}

}  // namespace

/// The paper's rows of a group, by the fast form.
class PaperRows {
 public:
  PaperRows(std::vector<FastRow> rows, const MethodContext& context, const at::Tensor& table)
      : rows_(std::move(rows)), width_(table.size(1)) {
    const int64_t dim = padded_length(width_);
    padded_ = dim == width_ ? table.contiguous() : at::constant_pad_nd(table, {0, dim - width_});
    const bool completes = std::any_of(rows_.begin(), rows_.end(), [](const FastRow& row) { return row.row > 1; });
    if (!completes) return;
    completer_.emplace(*context.model, *context.classes);
    completed_.emplace(table.contiguous(), *completer_, dim);
  }

  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const {
    CompletedRows::Batch completed;
    if (completed_) completed = completed_->of(rows);
    std::vector<EpisodeScores> scores(rows_.size());
    for (EpisodeScores& one : scores)
      one = {at::empty({rows.size(), rows.q, rows.n}), at::empty({rows.size(), rows.n, width_})};
    PaperRowsRun run(rows_, padded_.size(1), width_);
    FastEpisode episode;
    for (int64_t i = 0; i < rows.size(); ++i) {
      place(rows, i, padded_, episode);
      const auto begin = completed.prototypes.begin();
      if (completed_) episode.completed.assign(begin + i * rows.n, begin + (i + 1) * rows.n);
      run.run(episode, answers(scores, i));
    }
    return scores;
  }

 private:
  static std::vector<FastAnswer> answers(const std::vector<EpisodeScores>& scores, int64_t number) {
    std::vector<FastAnswer> all;
    for (const EpisodeScores& one : scores) {
      all.push_back({one.logits.data_ptr<float>() + number * one.logits.stride(0),
                     one.prototypes.data_ptr<float>() + number * one.prototypes.stride(0)});
    }
    return all;
  }

  std::vector<FastRow> rows_;
  int64_t width_;
  at::Tensor padded_;  // [m, dim]
  std::optional<Completer> completer_;
  std::optional<CompletedRows> completed_;
};

namespace {

/// The row of a method that has the fast form in this context.
std::optional<FastRow> fast_row(const Method& method, const MethodContext& context) {
  const auto* row = dynamic_cast<const PaperRow*>(&method);
  if (row == nullptr || context.complete || context.gamma.defined()) return std::nullopt;
  if (row->fusion().steps != 1) return std::nullopt;
  return FastRow{method.spec().paper_row, static_cast<float>(row->gamma(context)), row->fusion()};
}

void check_sizes(const MethodContext& context, const at::Tensor& table) {
  if (table.dim() != 2 || table.scalar_type() != at::kFloat || !table.device().is_cpu())
    fail("features must be a float32 matrix on the CPU");
  if (context.maps.defined() && context.maps.size(0) != table.size(0))
    fail("there are feature maps of {} images and features of {}", context.maps.size(0), table.size(0));
  if (context.model == nullptr) return;
  const auto& sizes = context.model->network.options();
  if (sizes.feature_dim != table.size(1))
    fail("the model completes features of {} dimensions, these have {}", sizes.feature_dim, table.size(1));
  if (context.classes != nullptr && sizes.embedding_dim != context.classes->embedding.size(1)) {
    fail("the model was trained with embeddings of {} dimensions, the knowledge has {}", sizes.embedding_dim,
         context.classes->embedding.size(1));
  }
}

}  // namespace

EpisodeBatch gather(const at::Tensor& table, const RowBatch& rows) {
  const int64_t b = rows.size();
  const int64_t d = table.size(1);
  EpisodeBatch batch;
  const at::Tensor support = at::tensor(rows.support, at::kLong);
  if (support.lt(0).any().item<bool>()) {
    batch.support = select_present(table, support, {b, rows.n, rows.k, d});
    batch.support_mask = support.ge(0).to(at::kFloat).view({b, rows.n, rows.k});
  } else {
    batch.support = select(table, rows.support, {b, rows.n, rows.k, d});
  }
  batch.query = select(table, rows.query, {b, rows.q, d});
  if (rows.u > 0) batch.unlabelled = select(table, rows.unlabelled, {b, rows.u, d});
  batch.classes = at::tensor(rows.classes, at::kLong).view({b, rows.n});
  batch.seed = rows.seed;
  if (!rows.shares.empty()) batch.shares = at::tensor(rows.shares, at::kFloat).view({b, rows.n});
  return batch;
}

/// A table that methods read their episodes from, as it is or through a FeatureMap.
class EpisodeTable {
 public:
  /// `map` may be null.
  EpisodeTable(at::Tensor table, std::shared_ptr<const FeatureMap> map) : table_(std::move(table)) {
    if (map != nullptr) mapped_ = std::make_unique<MappedTable>(table_, std::move(map));
  }

  [[nodiscard]] bool is(const at::Tensor& table, const FeatureMap* map) const {
    if (!table_.is_same(table) || (mapped_ == nullptr) != (map == nullptr)) return false;
    return map == nullptr || mapped_->map().same_as(*map);
  }

  [[nodiscard]] EpisodeBatch gathered(const RowBatch& rows) const {
    if (mapped_ == nullptr) return gather(table_, rows);
    for (const auto* part : {&rows.support, &rows.query, &rows.unlabelled}) mapped_->need(*part);
    return gather(mapped_->rows(), rows);
  }

  /// Episodes of this shape that may be tensors at once.
  [[nodiscard]] int64_t together(const RowBatch& rows) const {
    constexpr int64_t kFloats = int64_t{4} << 20;  // 16 MB
    const int64_t width = mapped_ == nullptr ? table_.size(1) : mapped_->rows().size(1);
    const int64_t images = std::max<int64_t>(1, rows.n * rows.k + rows.q + rows.u);
    return std::max<int64_t>(1, kFloats / (width * images));
  }

 private:
  at::Tensor table_;
  std::unique_ptr<MappedTable> mapped_;
};

namespace {

/// The episodes [begin, end) of a batch.
RowBatch part_of(const RowBatch& rows, int64_t begin, int64_t end) {
  RowBatch part = rows;
  const auto cut = [&](auto& list) {
    const auto each = static_cast<int64_t>(list.size()) / rows.size();
    list = {list.begin() + begin * each, list.begin() + end * each};
  };
  for (auto* list : {&part.classes, &part.support, &part.query, &part.unlabelled}) cut(*list);
  cut(part.seed);
  cut(part.shares);
  return part;
}

/// The scores of a batch that is too large to be tensors at once.
EpisodeScores in_parts(const Scorer& scorer, const EpisodeTable& from, const RowBatch& rows) {
  std::vector<at::Tensor> logits;
  std::vector<at::Tensor> prototypes;
  std::vector<at::Tensor> unseen;
  const int64_t step = from.together(rows);
  for (int64_t begin = 0; begin < rows.size(); begin += step) {
    const RowBatch part = part_of(rows, begin, std::min(begin + step, rows.size()));
    const EpisodeScores scores = scorer.score_mapped(from.gathered(part));
    logits.push_back(scores.logits);
    prototypes.push_back(scores.prototypes);
    unseen.push_back(scores.unseen);
  }
  const auto whole = [](const std::vector<at::Tensor>& all) {
    return all.front().defined() ? at::cat(all) : at::Tensor();
  };
  return {at::cat(logits), whole(prototypes), whole(unseen)};
}

}  // namespace

struct ScorerGroup::Impl {
  at::Tensor table, maps;                        // [m, d]; [m, c * h * w] or undefined
  std::vector<std::unique_ptr<Scorer>> scorers;  // [methods], null for those with a fast form
  std::vector<size_t> place;                     // [methods], in `tables`
  std::vector<EpisodeTable> tables;
  std::optional<PaperRows> fast;

  /// Methods that map features alike share a table.
  size_t place_of(const Scorer& scorer, const at::Tensor& from) {
    auto map = scorer.feature_map();
    for (size_t i = 0; i < tables.size(); ++i) {
      if (tables[i].is(from, map.get())) return i;
    }
    tables.emplace_back(from, std::move(map));
    return tables.size() - 1;
  }
};

ScorerGroup::ScorerGroup(const Methods& methods, const MethodContext& context, const at::Tensor& table)
    : impl_(std::make_unique<Impl>()) {
  check_sizes(context, table);
  impl_->table = table;
  if (context.maps.defined()) impl_->maps = context.maps.flatten(1);
  std::vector<FastRow> rows;
  for (const auto& method : methods) {
    check_needs(*method, context);
    const auto row = fast_row(*method, context);
    if (row) rows.push_back(*row);
    impl_->scorers.push_back(row ? nullptr : method->prepare(context));
    const bool sees_maps = method->spec().has(Need::kFeatureMaps);
    impl_->place.push_back(row ? 0 : impl_->place_of(*impl_->scorers.back(), sees_maps ? impl_->maps : table));
  }
  if (!rows.empty()) impl_->fast.emplace(std::move(rows), context, table);
}

ScorerGroup::~ScorerGroup() = default;

std::vector<EpisodeScores> ScorerGroup::score(const RowBatch& rows) const {
  const at::NoGradGuard no_grad;
  const ThreadScope one_thread(1);
  std::vector<EpisodeScores> fast;
  if (impl_->fast) fast = impl_->fast->score(rows);
  std::vector<std::optional<EpisodeBatch>> batches(impl_->tables.size());
  std::vector<EpisodeScores> scores;
  auto next = fast.begin();
  for (size_t m = 0; m < impl_->scorers.size(); ++m) {
    if (impl_->scorers[m] == nullptr) {
      scores.push_back(std::move(*next++));
      continue;
    }
    const EpisodeTable& from = impl_->tables[impl_->place[m]];
    if (from.together(rows) < rows.size()) {
      scores.push_back(in_parts(*impl_->scorers[m], from, rows));
      continue;
    }
    auto& batch = batches[impl_->place[m]];
    if (!batch) batch = from.gathered(rows);
    scores.push_back(impl_->scorers[m]->score_mapped(*batch));
  }
  return scores;
}

}  // namespace protocom
