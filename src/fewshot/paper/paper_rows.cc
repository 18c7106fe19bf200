#include "fewshot/paper/paper_rows.h"

#include <ATen/ATen.h>

#include "fewshot/toolbox/row_kernels.h"

namespace protocom {
namespace {

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

/// Where the answers to an episode of a batch go.
std::vector<FastAnswer> answers(const std::vector<EpisodeScores>& scores, int64_t number) {
  std::vector<FastAnswer> all;
  for (const EpisodeScores& score : scores) {
    all.push_back({score.logits.data_ptr<float>() + number * score.logits.stride(0),
                   score.prototypes.data_ptr<float>() + number * score.prototypes.stride(0)});
  }
  return all;
}

}  // namespace

PaperRows::PaperRows(const at::Tensor& table) : table_(table.contiguous()) {
  const int64_t dim = padded_length(table_.size(1));
  padded_ = dim == table_.size(1) ? table_ : at::constant_pad_nd(table_, {0, dim - table_.size(1)});
}

void PaperRows::add(const FastRow& row, const MethodContext& context) {
  rows_.push_back(row);
  if (row.row == 1 || completer_) return;
  completer_.emplace(*context.model, *context.classes);
  completed_.emplace(table_, *completer_, padded_.size(1));
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
    place(rows, i, padded_, episode);
    const auto begin = completed.prototypes.begin();
    if (completed_) episode.completed.assign(begin + i * rows.n, begin + (i + 1) * rows.n);
    run.run(episode, answers(scores, i));
  }
  return scores;
}

}  // namespace protocom
