#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eval/evaluate.h"

namespace protocom {

/// What an analysis of episodes reads, with the methods it compares.
struct AnalysisInputs {
  EvaluateInputs data;
  Methods methods = make_methods(paper_rows());
  std::string baseline = "mean";  ///< what gains are over; the first method when it is not among them
};

/// Runs some of the methods; `methods` empty: all of `inputs`.
std::vector<MethodScores> evaluate(const AnalysisInputs& inputs, const EpisodeList& list, Progress& progress,
                                   Methods methods = {});

/// What a method reached at one point of a series.
struct SeriesPoint {
  double x = 0.0;  ///< shots, classes, queries, unlabelled images per class, the noise level, ...
  std::string method;
  std::string mode;                        ///< "inductive", "transductive" or "semi-supervised"
  Estimate accuracy;                       ///< percent
  Estimate gain;                           ///< points over the baseline on the same episodes
  double spread = 0.0;                     ///< standard deviation of the accuracy over draws of the noise; 0 elsewhere
  std::optional<Estimate> knowledge = {};  ///< points over the same method without knowledge on the same episodes
  std::optional<Estimate> change = {};     ///< points over its own first point, where all are on the same episodes
};
void to_json(nlohmann::json& object, const SeriesPoint& point);

/// Adds the point at x of every method, with what knowledge is worth to those that are there without it too.
void append_points(const AnalysisInputs& inputs, double x, const std::vector<MethodScores>& scores,
                   std::vector<SeriesPoint>& points);

/// Every method's accuracy for each number of shots (figure 3a). With 0 of them only methods that need no labelled
/// image have a point, and gains there are over chance. Throws Error like sample_episodes.
std::vector<SeriesPoint> accuracy_by_shots(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                           const std::vector<int64_t>& shots, Progress& progress);

/// The same for each number of classes to tell apart.
std::vector<SeriesPoint> accuracy_by_ways(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                          const std::vector<int64_t>& ways, Progress& progress);

/// Episodes with this many queries per class; 0: with a single query, of one of the classes. Throws Error like
/// sample_episodes.
EpisodeList episodes_with_queries(const FeatureSet& features, const EpisodeOptions& episodes, int64_t a_class);

/// The same for each number of queries per class, which transductive methods learn from, as episodes_with_queries()
/// takes it; x is the number of all queries of an episode.
std::vector<SeriesPoint> accuracy_by_queries(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                             const std::vector<int64_t>& queries, Progress& progress);

/// The shapes of accuracy_by_imbalance(), the balanced one first. Throws UsageError for an alpha that is not positive.
std::vector<EpisodeShape> imbalanced_shapes(EpisodeShape shape, const std::vector<double>& alphas);

/// The same for queries whose classes' shares are drawn from Dirichlet(alpha, ..., alpha); x = 1 / alpha, and 0 if
/// they are balanced, which is the first point. Throws UsageError for an alpha that is not positive.
std::vector<SeriesPoint> accuracy_by_imbalance(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                               const std::vector<double>& alphas, Progress& progress);

/// The methods against the number of unlabelled images per class that GaussFusion may use. They belong to the episode's
/// classes and are disjoint from the queries that are scored, which every point shares; the images of one point are
/// among those of the next. Throws Error when a class has fewer than k_shot + n_query + max(counts) images.
std::vector<SeriesPoint> accuracy_by_unlabelled(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                                const std::vector<int64_t>& counts, Progress& progress);

/// The points of one method, in order.
std::vector<SeriesPoint> points_of(const std::vector<SeriesPoint>& points, const std::string& method);

/// Where the line through a's points first goes from above b's to not above it (or the other way round), by linear
/// interpolation between neighbouring x; nothing when one stays above. Both have the same x, ascending;
/// throws Error for different numbers of points.
std::optional<double> crossing(const std::vector<SeriesPoint>& a, const std::vector<SeriesPoint>& b);

/// 5, then about six steps up to `available`, which is the last; {available} when there are fewer than 5.
std::vector<int64_t> ways_up_to(int64_t available);

}  // namespace protocom
