#pragma once
#include <functional>

#include "base/array.h"
#include "eval/analysis_sweep.h"

namespace protocom {

/// R with errors: each attribute that a class has is taken from it, and each that it lacks is given to it, with
/// probability gamma in [0, 1]. An attribute that is given gets the mean weight of those that are there (1 in a table
/// of zeros and ones). float32 [c, a], a copy; gamma 0 leaves R as it is.
Array noisy_association(const Array& association, double gamma, uint64_t seed);

/// Settings of table 5.
struct NoiseOptions {
  std::vector<double> gammas = {0.0, 0.1, 0.2, 0.3};
  int64_t draws = 5;  ///< of the noise at each gamma above 0
  /// What a change of the association [c, a] changes in the classes' embeddings, [c, e]; empty: nothing, for embeddings
  /// that were not made from it.
  std::function<Array(const Array&)> embedding_change = {};
};

/// Every method at every noise level, on the same episodes; an episode's accuracy is its mean over the draws. The model
/// stays as it was trained: only the classes' knowledge at test time is wrong. Throws UsageError for a gamma
/// outside [0, 1], no draws, or inputs without knowledge.
std::vector<SeriesPoint> accuracy_by_noise(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                           const NoiseOptions& options, Progress& progress);

}  // namespace protocom
