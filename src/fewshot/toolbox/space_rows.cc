#include "fewshot/toolbox/detail/space_rows.h"

#include <ATen/ATen.h>

#include "base/error.h"

namespace protocom {
namespace {

/// Fills an episode's lists from their beginning on, which keep their memory.
class Placing {
 public:
  Placing(const MappedTable& table, RowEpisode& episode, size_t most)
      : table_(table), rows_(episode.rows), squares_(episode.squares) {
    rows_.resize(most);
    squares_.resize(most);
  }

  void add(int64_t row) {
    rows_[count_] = table_.row(row);
    squares_[count_++] = table_.square(row);
  }
  void add(const std::vector<int64_t>& rows, int64_t begin, int64_t count) {
    for (int64_t i = begin; i < begin + count; ++i) add(rows[static_cast<size_t>(i)]);
  }
  [[nodiscard]] size_t count() const { return count_; }
  /// What was added is all.
  void finish() {
    rows_.resize(count_);
    squares_.resize(count_);
  }

 private:
  const MappedTable& table_;
  std::vector<const float*>& rows_;
  Floats& squares_;
  size_t count_ = 0;
};

/// Episode `number` of a batch, in the memory of the one before.
void place(const MappedTable& table, const RowBatch& rows, int64_t number, RowEpisode& episode) {
  Placing placing(table, episode, static_cast<size_t>(rows.n * rows.k + rows.u + rows.q));
  episode.label.clear();
  for (int64_t k = 0; k < rows.n; ++k) {
    const int64_t* own = rows.support.data() + (number * rows.n + k) * rows.k;
    for (int64_t j = 0; j < rows.k; ++j) {
      if (own[j] >= 0) placing.add(own[j]);
    }
    if (placing.count() == episode.label.size()) fail("every class needs at least one support");
    episode.label.resize(placing.count(), k);
  }
  placing.add(rows.unlabelled, number * rows.u, rows.u);
  placing.add(rows.query, number * rows.q, rows.q);
  placing.finish();
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
