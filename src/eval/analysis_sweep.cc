#include "protocom/eval/analysis_sweep.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "protocom/core/check.h"
#include "protocom/core/error.h"
#include "protocom/fewshot/cosine_classifier.h"

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

/// One episode with its unlabelled images apart.
struct PooledEpisode {
  at::Tensor support;  // [n, k, d]
  at::Tensor query;    // [n * q, d]
  at::Tensor pool;     // [n, u, d]
  at::Tensor classes;  // int64 [n]
};

PooledEpisode split_off_pool(const at::Tensor& features, const Episode& episode, int64_t n_query) {
  const auto rows = [&](const std::vector<std::vector<int64_t>>& groups) {
    std::vector<int64_t> flat;
    for (const auto& group : groups) flat.insert(flat.end(), group.begin(), group.end());
    return features.index_select(0, at::tensor(flat, at::kLong))
        .view({static_cast<int64_t>(groups.size()), -1, features.size(1)});
  };
  const at::Tensor rest = rows(episode.query);  // [n, q + u, d]
  return {rows(episode.support), rest.narrow(1, 0, n_query).flatten(0, 1),
          rest.narrow(1, n_query, rest.size(1) - n_query), at::tensor(episode.classes, at::kLong)};
}

double percent_right(const at::Tensor& query, const at::Tensor& prototypes, const at::Tensor& truth) {
  return protocom::cosine_similarity(query, prototypes).argmax(-1).eq(truth).to(at::kDouble).mean().item<double>() *
         100.0;
}

/// Per count and then per method the accuracies of all episodes.
using PooledScores = std::vector<std::vector<std::vector<double>>>;

void score_pooled(const PooledEpisode& episode, const Completer& completer, const std::vector<int64_t>& counts,
                  PooledScores& scores) {
  const SupportStatistics support = support_statistics(episode.support);
  const at::Tensor mean = mean_prototypes(support);
  const at::Tensor completed = completer.complete(mean, episode.classes);
  const int64_t n_query = episode.query.size(0) / mean.size(0);
  const at::Tensor truth = at::arange(mean.size(0)).repeat_interleave(n_query);
  const std::vector<double> inductive = {percent_right(episode.query, mean, truth),
                                         percent_right(episode.query, completed, truth),
                                         percent_right(episode.query, fuse_by_mean(mean, completed), truth)};
  for (size_t i = 0; i < counts.size(); ++i) {
    const at::Tensor pool = episode.pool.narrow(1, 0, counts[i]).flatten(0, 1);
    const at::Tensor fused = gauss_fusion(support, completed, pool);
    for (size_t method = 0; method < inductive.size(); ++method) scores[i][method].push_back(inductive[method]);
    scores[i][inductive.size()].push_back(percent_right(episode.query, fused, truth));
  }
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
  const at::NoGradGuard no_grad;
  EpisodeShape shape = episodes.shape;
  shape.n_query += *std::max_element(counts.begin(), counts.end());
  const EpisodeList list = sample_episodes(inputs.features, episodes.split, shape, episodes.count, episodes.seed);
  const Completer completer(inputs.model, inputs.classes);
  PooledScores scores(counts.size(), std::vector<std::vector<double>>(all_methods().size()));
  progress.start("unlabelled", static_cast<int64_t>(list.episodes.size()));
  for (size_t i = 0; i < list.episodes.size(); ++i) {
    score_pooled(split_off_pool(inputs.features.features, list.episodes[i], episodes.shape.n_query), completer, counts,
                 scores);
    progress.advance(static_cast<int64_t>(i + 1), "");
  }
  progress.finish();
  std::vector<SeriesPoint> points;
  for (size_t i = 0; i < counts.size(); ++i) {
    for (const Method method : all_methods()) {
      const auto& own = scores[i][static_cast<size_t>(method)];
      // The pool is unlabelled and is not scored; a query's own prediction depends on no other query.
      const char* mode = method == Method::kGaussFusion && counts[i] > 0 ? "semi-supervised" : "inductive";
      points.push_back({static_cast<double>(counts[i]), std::string(to_string(method)), mode, estimate(own),
                        paired_difference(own, scores[i].front()), 0.0});
    }
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
