#pragma once
#include <functional>

#include "base/array.h"
#include "eval/analysis_sweep.h"

namespace protocom {

/// Adds errors to R: each attribute that a class has is removed, and each that it lacks is added, with probability
/// gamma in [0, 1]. An added attribute gets the mean of the nonzero weights (1 in a table of zeros and ones). float32
/// [c, a], a copy; gamma 0 leaves R unchanged.
Array noisy_association(const Array& association, double gamma, uint64_t seed);

/// Settings of table 5.
struct NoiseOptions {
  std::vector<double> gammas = {0.0, 0.1, 0.2, 0.3};
  int64_t draws = 5;  ///< draws of the noise for each gamma above 0
  /// Returns the change in the classes' embeddings, [c, e], for a change of the association [c, a]; empty: none, for
  /// embeddings that were not made from it.
  std::function<Array(const Array&)> embedding_change = {};
};

/// Measures every method at every noise level, on the same episodes; an episode's accuracy is its mean over the draws.
/// The model is unchanged: only the classes' knowledge at test time is wrong. Throws UsageError for a gamma outside
/// [0, 1], no draws, or inputs without knowledge.
std::vector<SeriesPoint> accuracy_by_noise(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                           const NoiseOptions& options, Progress& progress);

}  // namespace protocom
