#include "fewshot/toolbox/space_rows.h"

#include <ATen/ATen.h>

#include "protocom/core/error.h"

namespace protocom {
namespace {

void append(const MappedTable& table, int64_t row, RowEpisode& episode) {
  episode.rows.push_back(table.row(row));
  episode.squares.push_back(table.square(row));
}

void append(const MappedTable& table, const std::vector<int64_t>& rows, int64_t begin, int64_t count,
            RowEpisode& episode) {
  for (int64_t i = begin; i < begin + count; ++i) append(table, rows[static_cast<size_t>(i)], episode);
}

/// Episode `number` of a batch, in the memory of the one before.
void place(const MappedTable& table, const RowBatch& rows, int64_t number, RowEpisode& episode) {
  episode.rows.clear();
  episode.squares.clear();
  episode.label.clear();
  for (int64_t k = 0; k < rows.n; ++k) {
    const size_t before = episode.label.size();
    const int64_t* own = rows.support.data() + (number * rows.n + k) * rows.k;
    for (int64_t j = 0; j < rows.k; ++j) {
      if (own[j] < 0) continue;
      append(table, own[j], episode);
      episode.label.push_back(k);
    }
    if (episode.label.size() == before) fail("every class needs at least one support");
  }
  append(table, rows.unlabelled, number * rows.u, rows.u, episode);
  append(table, rows.query, number * rows.q, rows.q, episode);
}

}  // namespace

std::vector<EpisodeScores> SpaceRows::score(const RowBatch& rows) const {
  if (rows.n < 1) fail("an episode needs at least one class");
  for (const auto* part : {&rows.support, &rows.query, &rows.unlabelled}) table_->need(*part);
  std::vector<std::unique_ptr<RowRun>> runs;
  std::vector<EpisodeScores> scores;
  for (const MakeRowRun& make : makers_) {
    runs.push_back(make());
    scores.push_back({at::empty({rows.size(), rows.q, rows.n}), at::Tensor()});
  }
  RowEpisode episode;
  episode.n = rows.n;
  episode.dim = table_->stride();
  episode.unlabelled = rows.u > 0 ? rows.u : rows.q;
  episode.queries = rows.q;
  for (int64_t i = 0; i < rows.size(); ++i) {
    place(*table_, rows, i, episode);
    for (size_t m = 0; m < runs.size(); ++m)
      runs[m]->answer(episode, scores[m].logits.data_ptr<float>() + i * rows.q * rows.n);
  }
  return scores;
}

}  // namespace protocom
