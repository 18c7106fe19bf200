#include "eval/detail/episode_rows.h"

#include <algorithm>

#include "base/rng.h"
#include "eval/detail/used_rows.h"
#include "eval/evaluate.h"

namespace protocom {
namespace {

int64_t total(const std::vector<std::vector<int64_t>>& groups) {
  size_t rows = 0;
  for (const auto& group : groups) rows += group.size();
  return static_cast<int64_t>(rows);
}

int64_t most(const std::vector<std::vector<int64_t>>& groups) {
  size_t rows = 0;
  for (const auto& group : groups) rows = std::max(rows, group.size());
  return static_cast<int64_t>(rows);
}

void add(const Episode& episode, RowBatch& rows) {
  rows.classes.insert(rows.classes.end(), episode.classes.begin(), episode.classes.end());
  for (const auto& group : episode.support) {
    rows.support.insert(rows.support.end(), group.begin(), group.end());
    // Ragged: -1 means no image.
    rows.support.insert(rows.support.end(), static_cast<size_t>(rows.k) - group.size(), -1);
  }
  append(episode.query, rows.query);
  append(episode.pool, rows.unlabelled);
  for (const auto& group : episode.pool.empty() ? episode.query : episode.pool)
    rows.shares.push_back(static_cast<float>(group.size()));
}

}  // namespace

void append(const std::vector<std::vector<int64_t>>& groups, std::vector<int64_t>& rows) {
  for (const auto& group : groups) rows.insert(rows.end(), group.begin(), group.end());
}

bool same_shape(const Episode& a, const Episode& b) {
  return a.classes.size() == b.classes.size() && total(a.query) == total(b.query) && total(a.pool) == total(b.pool);
}

RowBatch rows_of(const EpisodeList& list, const std::vector<size_t>& numbers) {
  RowBatch rows;
  const Episode& first = list.episodes[numbers.front()];
  rows.n = static_cast<int64_t>(first.classes.size());
  rows.q = total(first.query);
  rows.u = total(first.pool);
  for (const size_t number : numbers) rows.k = std::max(rows.k, most(list.episodes[number].support));
  for (const size_t number : numbers) {
    add(list.episodes[number], rows);
    // The random numbers of a method depend on the episode's number in the list, not on its place in a batch.
    rows.seed.push_back(Rng(list.seed).fork(number).next());
  }
  return rows;
}

std::vector<int64_t> rows_of(const FeatureSet& features, Split split) {
  std::vector<int64_t> rows;
  const auto by_class = features.rows_by_class();
  for (const int64_t label : features.classes_of(split)) {
    const auto& own = by_class[static_cast<size_t>(label)];
    rows.insert(rows.end(), own.begin(), own.end());
  }
  return rows;
}

LabelledFeatures features_of(const FeatureSet& features, Split split) {
  const std::vector<int64_t> rows = rows_of(features, split);
  if (rows.empty()) return {};
  const Array taken = features.features.gathered(rows);
  check_taken_rows(features, taken);
  std::vector<int64_t> labels;
  for (const int64_t row : rows) labels.push_back(features.labels[static_cast<size_t>(row)]);
  return {taken, labels};
}

int64_t episodes_together(const EpisodeList& episodes, int64_t feature_dim) {
  constexpr int64_t kMost = 16;
  constexpr int64_t kFloats = int64_t{4} << 20;  // 16 MB of features
  int64_t rows = 1;
  for (const Episode& episode : episodes.episodes) {
    const auto n = static_cast<int64_t>(episode.classes.size());
    rows = std::max(rows, n * most(episode.support) + total(episode.query) + total(episode.pool));
  }
  return std::clamp(kFloats / (rows * feature_dim), int64_t{1}, kMost);
}

}  // namespace protocom
