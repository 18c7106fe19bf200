#include "fewshot/paper/detail/paper_row.h"

#include <ATen/ATen.h>

#include <atomic>
#include <optional>
#include <vector>

#include "base/error.h"
#include "fewshot/detail/fast_form.h"
#include "fewshot/paper/completer.h"
#include "fewshot/paper/detail/completed_rows.h"
#include "fewshot/paper/detail/paper_rows_run.h"
#include "fewshot/toolbox/cosine_classifier.h"
#include "fewshot/toolbox/detail/coarse_rows.h"
#include "fewshot/toolbox/detail/row_kernels.h"
#include "fewshot/toolbox/detail/row_products.h"
#include "tensors/unit_vectors.h"

namespace protocom {
namespace {

/// One over the norm of each row of a table, found when it is first asked for. Thread-safe.
class InverseNorms {
 public:
  explicit InverseNorms(int64_t rows) : found_(static_cast<size_t>(rows)) {}

  /// Of row `i`, which is `row`.
  float of(int64_t i, const float* row, int64_t dim) const {
    std::atomic<float>& found = found_[static_cast<size_t>(i)];
    float value = found.load(std::memory_order_relaxed);
    if (value != 0) return value;
    value = inverse_norm_of(row_dot(row, row, dim));
    found.store(value, std::memory_order_relaxed);  // whichever thread: it is the same number
    return value;
  }

 private:
  mutable std::vector<std::atomic<float>> found_;  // 0: not yet
};

/// The fast form of the paper's rows: those of a group are computed together (paper_rows_run.h).
class PaperRows : public FastForm {
 public:
  explicit PaperRows(const at::Tensor& table);

  /// Takes one more row. The context's model and classes, the same for all rows, must outlive it.
  void add(const FastRow& row, const MethodContext& context);
  [[nodiscard]] std::vector<EpisodeScores> score(const RowBatch& rows) const override;

 private:
  void place(const RowBatch& rows, int64_t number, FastEpisode& episode) const;

  at::Tensor table_;  // [m, d]
  std::vector<FastRow> rows_;
  at::Tensor padded_;  // [m, dim]
  InverseNorms inverse_norms_;
  std::optional<Completer> completer_;
  std::optional<CompletedRows> completed_;
};

/// Where the answers to an episode of a batch go.
std::vector<FastAnswer> answers(const std::vector<EpisodeScores>& scores, int64_t number) {
  std::vector<FastAnswer> all;
  for (const EpisodeScores& score : scores) {
    all.push_back({score.logits.data_ptr<float>() + number * score.logits.stride(0),
                   score.prototypes.data_ptr<float>() + number * score.prototypes.stride(0)});
  }
  return all;
}

PaperRows::PaperRows(const at::Tensor& table) : table_(table.contiguous()), inverse_norms_(table.size(0)) {
  const int64_t dim = padded_length(table_.size(1));
  padded_ = dim == table_.size(1) ? table_ : at::constant_pad_nd(table_, {0, dim - table_.size(1)});
}

void PaperRows::add(const FastRow& row, const MethodContext& context) {
  rows_.push_back(row);
  if (row.row == 1 || completer_) return;
  completer_.emplace(*context.model, *context.classes);
  completed_.emplace(table_, *completer_, padded_.size(1));
}

/// One episode of a batch, in memory that the next one uses again.
void PaperRows::place(const RowBatch& rows, int64_t number, FastEpisode& episode) const {
  const float* table = padded_.data_ptr<float>();
  const int64_t dim = padded_.size(1);
  episode.support.resize(static_cast<size_t>(rows.n));
  for (int64_t i = 0; i < rows.n; ++i) {
    auto& own = episode.support[static_cast<size_t>(i)];
    own.clear();
    const int64_t* support = rows.support.data() + (number * rows.n + i) * rows.k;
    for (int64_t j = 0; j < rows.k && support[j] >= 0; ++j) own.push_back(table + support[j] * dim);
  }
  const auto point = [&](const std::vector<int64_t>& from, int64_t count, std::vector<const float*>& to,
                         std::vector<float>& inverse) {
    to.clear();
    inverse.clear();
    for (int64_t i = number * count; i < (number + 1) * count; ++i) {
      const int64_t row = from[static_cast<size_t>(i)];
      to.push_back(table + row * dim);
      inverse.push_back(inverse_norms_.of(row, to.back(), dim));
    }
  };
  point(rows.query, rows.q, episode.query, episode.query_inverse);
  point(rows.unlabelled, rows.u, episode.unlabelled, episode.unlabelled_inverse);
}

std::vector<EpisodeScores> PaperRows::score(const RowBatch& rows) const {
  CompletedRows::Batch completed;
  if (completed_) completed = completed_->of(rows);
  std::vector<EpisodeScores> scores(rows_.size());
  for (EpisodeScores& episode_scores : scores)
    episode_scores = {at::empty({rows.size(), rows.q, rows.n}), at::empty({rows.size(), rows.n, table_.size(1)})};
  PaperRowsRun run(rows_, padded_.size(1), table_.size(1));
  FastEpisode episode;
  for (int64_t i = 0; i < rows.size(); ++i) {
    place(rows, i, episode);
    const auto begin = completed.prototypes.begin();
    if (completed_) episode.completed.assign(begin + i * rows.n, begin + (i + 1) * rows.n);
    run.run(episode, answers(scores, i));
  }
  return scores;
}

/// Throws Error where the model is of other features or other knowledge.
void check_completes(const CompletionModel& model, const KnowledgeTable& classes, const at::Tensor& table) {
  const auto& sizes = model.network.options();
  if (sizes.feature_dim != table.size(1))
    fail("the model completes features of {} dimensions, these have {}", sizes.feature_dim, table.size(1));
  if (sizes.embedding_dim != classes.class_embedding.size(1)) {
    fail("the model was trained with embeddings of {} dimensions, the knowledge has {}", sizes.embedding_dim,
         classes.class_embedding.size(1));
  }
}

/// Rows (i) to (iii) place a class by itself; row (iv) looks at the queries.
class PaperRowScorer : public Scorer, private ClassPlacer {
 public:
  PaperRowScorer(PaperRow::Prototypes prototypes, const GaussFusionOptions& fusion, CompletePrototypes complete,
                 at::Tensor gamma, Sees sees)
      : prototypes_(prototypes),
        fusion_(fusion),
        complete_(std::move(complete)),
        gamma_(std::move(gamma)),
        sees_(sees) {}

  [[nodiscard]] const ClassPlacer* placer() const override { return sees_ == Sees::kEachQueryAlone ? this : nullptr; }

  [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
    const at::Tensor prototypes = prototypes_(PrototypeParts(batch, complete_), fusion_);  // [b, n, d]
    return {gamma_ * protocom::cosine_similarity(batch.query, prototypes), prototypes};
  }

 private:
  /// Prototypes and themselves at unit length, as rows and as coarse ones.
  [[nodiscard]] PlacedClasses place(const EpisodeBatch& batch) const override {
    const at::Tensor prototypes = prototypes_(PrototypeParts(batch, complete_), fusion_).squeeze(0);  // [n, d]
    const at::Tensor rows = padded_row(unit_vectors(prototypes));
    const CoarseRows coarse = coarse_rows(rows);
    return {prototypes, rows, coarse.codes, coarse.steps};
  }

  [[nodiscard]] EpisodeScores score(const PlacedClasses& classes, const at::Tensor& query) const override {
    const at::Tensor rows = padded_row(unit_vectors(query)).unsqueeze(0);  // [1, q, d']
    const at::Tensor& own = classes[1];
    const at::Tensor cosines =
        own.size(0) < kFewestCoarse || rows.size(1) == 0
            ? row_products(rows, own)
            : products_with_many(rows[0], rows[0], {own, {classes[2], classes[3]}, {}}).unsqueeze(0);
    return {gamma_ * cosines, classes[0].unsqueeze(0)};
  }

  PaperRow::Prototypes prototypes_;
  GaussFusionOptions fusion_;
  CompletePrototypes complete_;
  at::Tensor gamma_;
  Sees sees_;
};

}  // namespace

CompletePrototypes complete_by(const CompletionModel& model, const KnowledgeTable& classes) {
  return [completer = std::make_shared<Completer>(model, classes)](const at::Tensor& prototypes,
                                                                   const at::Tensor& labels) {
    return completer->complete(prototypes.flatten(0, 1), labels.flatten()).view(prototypes.sizes());
  };
}

double PaperRow::gamma(const MethodContext& context) const {
  if (options_.gamma > 0) return options_.gamma;
  return context.model == nullptr ? kDefaultGamma : context.model->gamma;
}

std::unique_ptr<Scorer> PaperRow::prepare(const MethodContext& context) const {
  CompletePrototypes complete = context.complete;
  if (spec().has(Need::kCompletionModel) && !complete) complete = complete_by(*context.model, *context.classes);
  const at::Tensor gamma =
      context.gamma.defined() && options_.gamma == 0 ? context.gamma : at::scalar_tensor(this->gamma(context));
  return std::make_unique<PaperRowScorer>(prototypes_, options_, std::move(complete), gamma, spec().sees);
}

/// The fast form is that of a model's own completion and factor, and of one step of fusion.
const FastForm* PaperRow::join(FastForms& forms) const {
  const MethodContext& context = forms.context();
  if (context.complete) return nullptr;
  if (spec().has(Need::kCompletionModel)) check_completes(*context.model, *context.classes, forms.table());
  if (context.gamma.defined() || options_.steps != 1) return nullptr;
  auto& rows = forms.shared<PaperRows>();
  rows.add({spec().paper_row, static_cast<float>(gamma(context)), options_}, context);
  return &rows;
}

Parameters<PaperRowOptions> paper_row_parameters() {
  return Parameters<PaperRowOptions>().real(
      "gamma", &PaperRowOptions::gamma, {},
      "factor of the cosine in the softmax of equation 8; 0: what joint meta-training learned, else 10");
}

MethodDefinition define_paper_row(MethodSpec spec, PaperRow::Prototypes prototypes,
                                  Parameters<PaperRowOptions> parameters) {
  spec.citation =
      "Zhang, Li, Ye, Huang, Zhang: Prototype Completion with Primitive Knowledge for Few-Shot Learning, CVPR 2021";
  return define<PaperRow>(std::move(spec), std::move(parameters), prototypes);
}

}  // namespace protocom
