#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eval/evaluate.h"

namespace protocom {

/// The inputs of an analysis of episodes, with the methods it compares.
struct AnalysisInputs {
  EvaluateInputs data;
  Methods methods = make_methods(paper_rows());
  std::string baseline = "mean";  ///< the method that gains are over; the first one if it is not among them
};

/// Runs some of the methods; `methods` empty: all of `inputs`.
std::vector<MethodScores> evaluate(const AnalysisInputs& inputs, const EpisodeList& list, Progress& progress,
                                   Methods methods = {});

/// A method's result at one point of a series.
struct SeriesPoint {
  double x = 0.0;  ///< number of shots, classes, queries, unlabelled images per class, the noise level, ...
  std::string method;
  std::string mode;                        ///< "inductive", "transductive" or "semi-supervised"
  Estimate accuracy;                       ///< percent
  Estimate gain;                           ///< points over the baseline on the same episodes
  double spread = 0.0;                     ///< standard deviation of the accuracy over draws of the noise; 0 elsewhere
  std::optional<Estimate> knowledge = {};  ///< points over the same method without knowledge on the same episodes
  std::optional<Estimate> change = {};     ///< points over its own first point, if all are on the same episodes
};
void to_json(nlohmann::json& object, const SeriesPoint& point);

/// Adds the point at x of every method, with the gain from knowledge for methods that also occur without it.
void append_points(const AnalysisInputs& inputs, double x, const std::vector<MethodScores>& scores,
                   std::vector<SeriesPoint>& points);

/// Measures every method's accuracy for each number of shots (figure 3a). For 0 shots only methods that need no
/// labelled image have a point, and gains are over chance. Throws Error like sample_episodes.
std::vector<SeriesPoint> accuracy_by_shots(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                           const std::vector<int64_t>& shots, Progress& progress);

/// Does so for each number of classes.
std::vector<SeriesPoint> accuracy_by_ways(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                          const std::vector<int64_t>& ways, Progress& progress);

/// Returns episodes with this many queries per class; 0: with a single query, of one of the classes. Throws Error like
/// sample_episodes.
EpisodeList episodes_with_queries(const FeatureSet& features, const EpisodeOptions& episodes, int64_t a_class);

/// Measures accuracy for each number of queries per class, which transductive methods learn from, as taken by
/// episodes_with_queries(); x is the total number of queries of an episode.
std::vector<SeriesPoint> accuracy_by_queries(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                             const std::vector<int64_t>& queries, Progress& progress);

/// Returns the shapes of accuracy_by_imbalance(), the balanced one first. Throws UsageError for an alpha that is not
/// positive.
std::vector<EpisodeShape> imbalanced_shapes(EpisodeShape shape, const std::vector<double>& alphas);

/// Measures accuracy for queries whose class proportions are drawn from Dirichlet(alpha, ..., alpha); x = 1 / alpha,
/// and 0 for balanced queries, which is the first point. Throws UsageError for an alpha that is not positive.
std::vector<SeriesPoint> accuracy_by_imbalance(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                               const std::vector<double>& alphas, Progress& progress);

/// Measures the methods as a function of the number of unlabelled images per class that GaussFusion may use. They are
/// of the episode's classes and disjoint from the queries that are scored, which every point shares; the images of one
/// point are among those of the next. Throws Error if a class has fewer than k_shot + n_query + max(counts) images.
std::vector<SeriesPoint> accuracy_by_unlabelled(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                                const std::vector<int64_t>& counts, Progress& progress);

/// Returns the points of one method, in order.
std::vector<SeriesPoint> points_of(const std::vector<SeriesPoint>& points, const std::string& method);

/// Returns where the line through a's points first goes from above b's to not above it (or the other way round), by
/// linear interpolation between neighbouring x; nothing if one stays above. Both have the same x, ascending; throws
/// Error for different numbers of points.
std::optional<double> crossing(const std::vector<SeriesPoint>& a, const std::vector<SeriesPoint>& b);

/// Returns 5, then about six steps up to `available`, which is the last; {available} if there are fewer than 5.
std::vector<int64_t> ways_up_to(int64_t available);

}  // namespace protocom
