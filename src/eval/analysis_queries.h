#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eval/analysis_sweep.h"

namespace protocom {

/// The results of one class.
struct ClassScore {
  std::string class_name;
  std::string title;              ///< display name
  int64_t queries = 0;            ///< number scored
  Estimate accuracy;              ///< percent; the mean over the episodes that contain the class
  std::string confused_with;      ///< the class it is most often confused with, among those in the same episodes
  double confused_percent = 0.0;  ///< how often, in episodes with both classes
  int64_t confused_episodes = 0;  ///< number of these episodes
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClassScore, class_name, title, queries, accuracy, confused_with, confused_percent,
                                   confused_episodes)

/// Per-class accuracy and confusion matrix of one method.
struct ClassesAnalysis {
  std::string method;
  std::vector<ClassScore> classes;
  /// [c][c], percent of the queries of class r, in episodes that contain class c, that were predicted as c; -1 if no
  /// episode has both.
  std::vector<std::vector<double>> confusion;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClassesAnalysis, method, classes, confusion)

/// Analyses the classes that occur in the episodes, in the order of class_names. `titles` maps indices of class_names
/// to display names, or is empty.
ClassesAnalysis analyse_classes(const FeatureSet& features, const EpisodeList& episodes,
                                const std::vector<Prediction>& queries, const std::vector<std::string>& titles);

/// Queries whose confidence lies in [low, high).
struct CalibrationBin {
  double low = 0.0;
  double high = 0.0;
  int64_t count = 0;
  double confidence = 0.0;  ///< mean confidence
  double accuracy = 0.0;    ///< share that is right
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CalibrationBin, low, high, count, confidence, accuracy)

/// A reliability curve.
struct ReliabilityCurve {
  std::string method;
  std::string mode;
  double expected_error = 0.0;       ///< ECE: mean over queries of |accuracy - confidence| of their bin
  double overconfidence = 0.0;       ///< mean confidence - accuracy
  std::vector<CalibrationBin> bins;  ///< those with queries
  double expected_error_ci95 = 0.0;  ///< half width of the 95 % interval over episodes, given the bins' signs
  double overconfidence_ci95 = 0.0;  ///< the same for `overconfidence`
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReliabilityCurve, method, mode, expected_error, overconfidence, bins,
                                   expected_error_ci95, overconfidence_ci95)

/// Bins of a reliability curve by default (Guo et al. 2017).
inline constexpr int64_t kCalibrationBins = 15;

/// Computes the curve of Guo et al. 2017 with `bins` of equal width. Throws UsageError for fewer than 1 bin, Error
/// without queries.
ReliabilityCurve reliability_curve(const std::vector<Prediction>& queries, int64_t bins = kCalibrationBins);

/// Returns the `count` mistakes with the highest probabilities, each image at most once.
std::vector<Prediction> surest_mistakes(const std::vector<Prediction>& queries, int64_t count);

/// The accuracies in one episode.
struct EpisodeChange {
  int64_t episode = 0;
  std::vector<std::string> classes;
  double mean = 0.0;       ///< accuracy, percent
  double completed = 0.0;  ///< accuracy, percent
  double fused = 0.0;      ///< accuracy, percent
  double change = 0.0;     ///< fused - mean, points
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EpisodeChange, episode, classes, mean, completed, fused, change)

/// The effect of GaussFusion on every episode.
struct EpisodesAnalysis {
  Estimate change;            ///< points
  double lost_percent = 0.0;  ///< episodes that became worse
  double unchanged_percent = 0.0;
  std::vector<double> changes;       ///< of all episodes, ascending
  std::vector<EpisodeChange> worst;  ///< the eight largest losses, largest first
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EpisodesAnalysis, change, lost_percent, unchanged_percent, changes, worst)

/// Compares mean, completed and gauss-fusion, which `scores` must have for the same `episodes`; throws Error otherwise.
EpisodesAnalysis analyse_episodes(const FeatureSet& features, const EpisodeList& episodes,
                                  const std::vector<MethodScores>& scores);

}  // namespace protocom
