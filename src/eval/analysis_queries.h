#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eval/analysis_sweep.h"

namespace protocom {

/// How one class fares.
struct ClassScore {
  std::string class_name;
  std::string title;              ///< display name
  int64_t queries = 0;            ///< scored
  Estimate accuracy;              ///< percent; the mean over the episodes that contain the class
  std::string confused_with;      ///< the class it is most often taken for, among those that were there to be chosen
  double confused_percent = 0.0;  ///< how often, in episodes with both
  int64_t confused_episodes = 0;  ///< in which that was seen
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClassScore, class_name, title, queries, accuracy, confused_with, confused_percent,
                                   confused_episodes)

/// Per-class accuracy and confusion matrix of one method.
struct ClassesAnalysis {
  std::string method;
  std::vector<ClassScore> classes;
  /// [c][c], percent of the queries of class r, in episodes that contain class c, that were taken for c; -1 when no
  /// episode has both.
  std::vector<std::vector<double>> confusion;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClassesAnalysis, method, classes, confusion)

/// Over the classes that occur in the episodes, in the order of class_names. `titles` maps indices of class_names to
/// words, or is empty.
ClassesAnalysis analyse_classes(const FeatureSet& features, const EpisodeList& episodes,
                                const std::vector<Prediction>& queries, const std::vector<std::string>& titles);

/// Queries whose confidence lies in [low, high).
struct CalibrationBin {
  double low = 0.0;
  double high = 0.0;
  int64_t count = 0;
  double confidence = 0.0;  ///< mean
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
  double expected_error_ci95 = 0.0;  ///< half width of the 95 % interval over episodes, the bins' signs taken as known
  double overconfidence_ci95 = 0.0;  ///< the same of `overconfidence`
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReliabilityCurve, method, mode, expected_error, overconfidence, bins,
                                   expected_error_ci95, overconfidence_ci95)

/// Bins of a reliability curve by default (Guo et al. 2017).
inline constexpr int64_t kCalibrationBins = 15;

/// Guo et al. 2017 with `bins` of equal width. Throws UsageError for fewer than 1 bin, Error without queries.
ReliabilityCurve reliability_curve(const std::vector<Prediction>& queries, int64_t bins = kCalibrationBins);

/// The `count` mistakes that were made with the highest probability, each image at most once.
std::vector<Prediction> surest_mistakes(const std::vector<Prediction>& queries, int64_t count);

/// What happened to one episode.
struct EpisodeChange {
  int64_t episode = 0;
  std::vector<std::string> classes;
  double mean = 0.0;       ///< accuracy, percent
  double completed = 0.0;  ///< accuracy, percent
  double fused = 0.0;      ///< accuracy, percent
  double change = 0.0;     ///< fused - mean, points
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EpisodeChange, episode, classes, mean, completed, fused, change)

/// What GaussFusion did to every episode.
struct EpisodesAnalysis {
  Estimate change;            ///< points
  double lost_percent = 0.0;  ///< episodes that became worse
  double unchanged_percent = 0.0;
  std::vector<double> changes;       ///< of all episodes, ascending
  std::vector<EpisodeChange> worst;  ///< the eight largest losses, the largest first
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EpisodesAnalysis, change, lost_percent, unchanged_percent, changes, worst)

/// `scores` holds mean, completed and gauss-fusion on the same `episodes`; throws Error when it does not.
EpisodesAnalysis analyse_episodes(const FeatureSet& features, const EpisodeList& episodes,
                                  const std::vector<MethodScores>& scores);

}  // namespace protocom
