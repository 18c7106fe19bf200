#include "fewshot/plda/detail/foreign_form.h"

#include <ATen/ATen.h>

#include "fewshot/plda/detail/foreign_span.h"

namespace protocom {

ForeignEpisode ForeignForm::episode_of(const RowBatch& rows, int64_t number) const {
  ForeignEpisode episode;
  episode.labels.count.resize(static_cast<size_t>(rows.n));
  for (int64_t i = 0; i < rows.n * rows.k; ++i) {
    const int64_t row = rows.support[static_cast<size_t>(number * rows.n * rows.k + i)];
    if (row < 0) continue;
    episode.rows.push_back(table_->row(row));
    episode.labels.labels.push_back(i / rows.k);
    episode.labels.count[static_cast<size_t>(i / rows.k)] += 1;
  }
  for (int64_t i = 0; i < rows.q; ++i)
    episode.rows.push_back(table_->row(rows.query[static_cast<size_t>(number * rows.q + i)]));
  return episode;
}

EpisodeScores ForeignForm::score(const ForeignMethod& method, const RowBatch& rows) const {
  const auto& space = dynamic_cast<const ForeignRows&>(table_->map());
  std::vector<at::Tensor> logits, unseen;
  for (int64_t i = 0; i < rows.size(); ++i) {
    auto scores = answer_in_foreign_space(episode_of(rows, i), space, *method.model, method.scale);
    if (!scores) scores = method.others->score(gather(table_->table(), part_of(rows, i, i + 1)));
    logits.push_back(scores->logits);
    unseen.push_back(scores->unseen);
  }
  return {at::cat(logits), at::Tensor(), at::cat(unseen)};
}

std::vector<EpisodeScores> ForeignForm::score(const RowBatch& rows) const {
  for (const auto* part : {&rows.support, &rows.query}) table_->need(*part);
  std::vector<EpisodeScores> scores;
  for (const ForeignMethod& method : methods_) scores.push_back(score(method, rows));
  return scores;
}

}  // namespace protocom
