#include "protocom/eval/analysis_sweep.h"

#include <algorithm>

#include "protocom/core/check.h"
#include "protocom/core/error.h"

namespace protocom {
namespace {

void append_points(double x, const std::vector<MethodScores>& scores, std::vector<SeriesPoint>& points) {
  for (const MethodScores& one : scores) {
    points.push_back({x, std::string(to_string(one.method)), std::string(mode_of(one.method)), estimate(one.accuracy),
                      paired_difference(one.accuracy, scores.front().accuracy), 0.0});
  }
}

std::vector<SeriesPoint> sweep(const AnalysisInputs& inputs, const AnalysisEpisodes& episodes,
                               const std::vector<int64_t>& values, int64_t EpisodeShape::*size, Progress& progress) {
  std::vector<SeriesPoint> points;
  for (const int64_t value : values) {
    EpisodeShape shape = episodes.shape;
    shape.*size = value;
    const EpisodeList list = sample_episodes(inputs.features, episodes.split, shape, episodes.count, episodes.seed);
    append_points(static_cast<double>(value),
                  evaluate(inputs.features, list, &inputs.model, &inputs.classes, {}, progress), points);
  }
  return points;
}

/// The same episodes with only the first `count` images of each pool.
EpisodeList with_smaller_pools(EpisodeList list, int64_t count) {
  list.shape.unlabelled = count;
  for (Episode& episode : list.episodes) {
    for (auto& rows : episode.pool) rows.resize(static_cast<size_t>(count));
    if (count == 0) episode.pool.clear();
  }
  return list;
}

/// Without a pool evaluate() would give GaussFusion the queries; here it is to have nothing.
std::vector<MethodScores> without_pool(const AnalysisInputs& inputs, const EpisodeList& list, Progress& progress) {
  EvaluateOptions options;
  options.methods = {Method::kMean, Method::kCompleted, Method::kMeanFusion};
  auto scores =
      evaluate(inputs.features, with_smaller_pools(list, 0), &inputs.model, &inputs.classes, options, progress);
  scores.push_back(scores.back());
  scores.back().method = Method::kGaussFusion;
  return scores;
}

}  // namespace

std::vector<SeriesPoint> accuracy_by_shots(const AnalysisInputs& inputs, const AnalysisEpisodes& episodes,
                                           const std::vector<int64_t>& shots, Progress& progress) {
  return sweep(inputs, episodes, shots, &EpisodeShape::k_shot, progress);
}

std::vector<SeriesPoint> accuracy_by_ways(const AnalysisInputs& inputs, const AnalysisEpisodes& episodes,
                                          const std::vector<int64_t>& ways, Progress& progress) {
  return sweep(inputs, episodes, ways, &EpisodeShape::n_way, progress);
}

std::vector<SeriesPoint> accuracy_by_unlabelled(const AnalysisInputs& inputs, const AnalysisEpisodes& episodes,
                                                const std::vector<int64_t>& counts, Progress& progress) {
  if (counts.empty() || *std::min_element(counts.begin(), counts.end()) < 0)
    fail_usage("numbers of unlabelled images must be 0 or more");
  EpisodeShape shape = episodes.shape;
  shape.unlabelled = *std::max_element(counts.begin(), counts.end());
  const EpisodeList list = sample_episodes(inputs.features, episodes.split, shape, episodes.count, episodes.seed);
  std::vector<SeriesPoint> points;
  for (const int64_t count : counts) {
    const auto scores = count == 0 ? without_pool(inputs, list, progress)
                                   : evaluate(inputs.features, with_smaller_pools(list, count), &inputs.model,
                                              &inputs.classes, {}, progress);
    append_points(static_cast<double>(count), scores, points);
    // The pool is unlabelled and is not scored: a query's prediction depends on no other query.
    points.back().mode = count == 0 ? "inductive" : "semi-supervised";
  }
  return points;
}

std::vector<SeriesPoint> points_of(const std::vector<SeriesPoint>& points, const std::string& method) {
  std::vector<SeriesPoint> own;
  std::copy_if(points.begin(), points.end(), std::back_inserter(own),
               [&](const SeriesPoint& point) { return point.method == method; });
  return own;
}

std::optional<double> crossing(const std::vector<SeriesPoint>& a, const std::vector<SeriesPoint>& b) {
  PROTOCOM_CHECK(a.size() == b.size());
  for (size_t i = 1; i < a.size(); ++i) {
    const double before = a[i - 1].accuracy.value - b[i - 1].accuracy.value;
    const double after = a[i].accuracy.value - b[i].accuracy.value;
    if (before == 0.0 || (before > 0.0) == (after > 0.0)) continue;
    return a[i - 1].x + (a[i].x - a[i - 1].x) * before / (before - after);
  }
  return std::nullopt;
}

std::vector<int64_t> ways_up_to(int64_t available) {
  constexpr int64_t kFewest = 5;
  constexpr int64_t kSteps = 6;
  if (available <= kFewest) return {available};
  const int64_t step = std::max<int64_t>(1, (available - kFewest + kSteps - 1) / kSteps);
  std::vector<int64_t> ways;
  for (int64_t n = kFewest; n < available; n += step) ways.push_back(n);
  ways.push_back(available);
  return ways;
}

}  // namespace protocom
