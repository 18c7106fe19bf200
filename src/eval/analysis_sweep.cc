#include "eval/analysis_sweep.h"

#include <algorithm>

#include "base/error.h"
#include "eval/detail/prepared_context.h"

namespace protocom {
namespace {

EpisodeList episodes_of(const AnalysisInputs& inputs, const EpisodeOptions& episodes, const EpisodeShape& shape) {
  return sample_episodes(inputs.data.features, {episodes.split, shape, episodes.count, episodes.seed});
}

std::vector<SeriesPoint> sweep(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                               const std::vector<int64_t>& values, int64_t EpisodeShape::*size, Progress& progress) {
  std::vector<SeriesPoint> points;
  for (const int64_t value : values) {
    EpisodeShape shape = episodes.shape;
    shape.*size = value;
    append_points(inputs, static_cast<double>(value), evaluate(inputs, episodes_of(inputs, episodes, shape), progress),
                  points);
  }
  return points;
}

std::vector<std::string> labels_of(const std::vector<MethodScores>& scores) {
  std::vector<std::string> labels;
  for (const MethodScores& score : scores) labels.push_back(score.method);
  return labels;
}

/// Adds the gain from knowledge on the same episodes; `points` belong to `scores`.
void add_knowledge(const std::vector<MethodScores>& scores, SeriesPoint* points) {
  const std::vector<std::string> labels = labels_of(scores);
  for (const auto& [with, without] : knowledge_pairs(labels)) {
    const auto place = std::find(labels.begin(), labels.end(), with) - labels.begin();
    points[place].knowledge =
        paired_difference(scores[static_cast<size_t>(place)].accuracy, find_scores(scores, without)->accuracy);
  }
}

/// Appends the methods that need no labelled image; gains are over chance.
void append_without_images(const AnalysisInputs& inputs, const EpisodeOptions& episodes, Progress& progress,
                           std::vector<SeriesPoint>& points) {
  const Methods able = able_with(inputs.methods, 0);
  if (able.empty()) return;
  EpisodeShape shape = episodes.shape;
  shape.k_shot = 0;
  const double chance = 100.0 / static_cast<double>(shape.n_way);
  const auto scores = evaluate(inputs, episodes_of(inputs, episodes, shape), progress, able);
  const size_t begin = points.size();
  for (const MethodScores& score : scores) {
    const Estimate accuracy = estimate(score.accuracy);
    points.push_back({0, score.method, score.mode, accuracy, {accuracy.value - chance, accuracy.ci95}, 0.0});
  }
  add_knowledge(scores, points.data() + begin);
}

/// Returns the same episodes with only the first `count` images of each pool.
EpisodeList with_smaller_pools(EpisodeList list, int64_t count) {
  list.shape.unlabelled = count;
  for (Episode& episode : list.episodes) {
    for (auto& rows : episode.pool) rows.resize(static_cast<size_t>(count));
    if (count == 0) episode.pool.clear();
  }
  return list;
}

/// Scores methods without unlabelled images: without a pool evaluate() would give transductive methods the queries.
/// GaussFusion without unlabelled images is the mean of both prototypes; the others have no point there.
std::vector<MethodScores> without_pool(const AnalysisInputs& inputs, const EpisodeList& list, Progress& progress) {
  Methods inductive;
  for (const auto& method : inputs.methods) {
    if (method->spec().sees == Sees::kEachQueryAlone) inductive.push_back(method);
  }
  if (inductive.empty()) return {};
  auto scores = evaluate(inputs, with_smaller_pools(list, 0), progress, inductive);
  const MethodScores* half = find_scores(scores, "mean-fusion");
  if (half == nullptr) return scores;
  MethodScores copy = *half;
  for (const auto& method : inputs.methods) {
    if (method->spec().name != "gauss-fusion") continue;
    copy.method = method->label();
    scores.push_back(copy);
  }
  return scores;
}

}  // namespace

std::vector<MethodScores> evaluate(const AnalysisInputs& inputs, const EpisodeList& list, Progress& progress,
                                   Methods methods) {
  if (methods.empty()) methods = inputs.methods;
  return evaluate(inputs.data, list, {std::move(methods)}, progress);
}

void to_json(nlohmann::json& object, const SeriesPoint& point) {
  object = {{"x", point.x},       {"method", point.method}, {"mode", point.mode}, {"accuracy", point.accuracy},
            {"gain", point.gain}, {"spread", point.spread}};
  if (point.knowledge) object["knowledge"] = *point.knowledge;
  if (point.change) object["change"] = *point.change;
}

void append_points(const AnalysisInputs& inputs, double x, const std::vector<MethodScores>& scores,
                   std::vector<SeriesPoint>& points) {
  const MethodScores* meant = find_scores(scores, label_meant(labels_of(scores), inputs.baseline));
  const auto& baseline = (meant == nullptr ? scores.front() : *meant).accuracy;
  const size_t begin = points.size();
  for (const MethodScores& score : scores)
    points.push_back(
        {x, score.method, score.mode, estimate(score.accuracy), paired_difference(score.accuracy, baseline), 0.0});
  add_knowledge(scores, points.data() + begin);
}

std::vector<SeriesPoint> accuracy_by_shots(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                           const std::vector<int64_t>& shots, Progress& progress) {
  std::vector<SeriesPoint> points;
  std::vector<int64_t> with_images = shots;
  with_images.erase(std::remove(with_images.begin(), with_images.end(), 0), with_images.end());
  if (with_images.size() < shots.size()) append_without_images(inputs, episodes, progress, points);
  const auto others = sweep(inputs, episodes, with_images, &EpisodeShape::k_shot, progress);
  points.insert(points.end(), others.begin(), others.end());
  return points;
}

std::vector<SeriesPoint> accuracy_by_ways(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                          const std::vector<int64_t>& ways, Progress& progress) {
  return sweep(inputs, episodes, ways, &EpisodeShape::n_way, progress);
}

EpisodeList episodes_with_queries(const FeatureSet& features, const EpisodeOptions& episodes, int64_t a_class) {
  EpisodeOptions drawn = episodes;
  drawn.shape.n_query = std::max<int64_t>(1, a_class);
  EpisodeList list = sample_episodes(features, drawn);
  if (a_class > 0) return list;
  for (size_t i = 0; i < list.episodes.size(); ++i) {
    auto& query = list.episodes[i].query;
    for (size_t c = 0; c < query.size(); ++c) {
      if (c != i % query.size()) query[c].clear();
    }
  }
  return list;
}

std::vector<SeriesPoint> accuracy_by_queries(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                             const std::vector<int64_t>& queries, Progress& progress) {
  std::vector<SeriesPoint> points;
  for (const int64_t count : queries) {
    const EpisodeList list = episodes_with_queries(inputs.data.features, episodes, count);
    const auto all = static_cast<double>(count == 0 ? 1 : count * episodes.shape.n_way);
    append_points(inputs, all, evaluate(inputs, list, progress), points);
  }
  return points;
}

std::vector<EpisodeShape> imbalanced_shapes(EpisodeShape shape, const std::vector<double>& alphas) {
  shape.query_distribution = QueryDistribution::kBalanced;
  std::vector<EpisodeShape> shapes = {shape};
  shape.query_distribution = QueryDistribution::kDirichlet;
  for (const double alpha : alphas) {
    if (!(alpha > 0)) fail_usage("alpha (Dirichlet distribution): expected a number above 0, found {}", alpha);
    shape.alpha = alpha;
    shapes.push_back(shape);
  }
  return shapes;
}

std::vector<SeriesPoint> accuracy_by_imbalance(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                               const std::vector<double>& alphas, Progress& progress) {
  std::vector<SeriesPoint> points;
  for (const EpisodeShape& shape : imbalanced_shapes(episodes.shape, alphas)) {
    const bool balanced = shape.query_distribution == QueryDistribution::kBalanced;
    append_points(inputs, balanced ? 0 : 1 / shape.alpha,
                  evaluate(inputs, episodes_of(inputs, episodes, shape), progress), points);
  }
  return points;
}

std::vector<SeriesPoint> accuracy_by_unlabelled(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                                const std::vector<int64_t>& counts, Progress& progress) {
  if (counts.empty() || *std::min_element(counts.begin(), counts.end()) < 0)
    fail_usage("unlabelled images: expected counts of at least 0, found [{}]", fmt::join(counts, ", "));
  EpisodeShape shape = episodes.shape;
  shape.unlabelled = *std::max_element(counts.begin(), counts.end());
  const EpisodeList list = episodes_of(inputs, episodes, shape);
  std::vector<SeriesPoint> points;
  for (const int64_t count : counts) {
    const auto scores =
        count == 0 ? without_pool(inputs, list, progress) : evaluate(inputs, with_smaller_pools(list, count), progress);
    if (!scores.empty()) append_points(inputs, static_cast<double>(count), scores, points);
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
  if (a.size() != b.size())
    fail("a crossing needs two lines with the same points, found {} and {} points", a.size(), b.size());
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
