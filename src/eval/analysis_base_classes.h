#pragma once
#include <cstdint>
#include <vector>

#include "eval/analysis_sweep.h"
#include "fewshot/fitted_method.h"

namespace protocom {

/// Keeps `count` random base classes and all other classes of the features; the base classes for one count are among
/// those for every larger one. Throws UsageError for fewer than 1 or more than there are.
FeatureSet with_fewer_base_classes(const FeatureSet& features, int64_t count, uint64_t seed);

/// The methods to refit, the numbers of base classes, and the episodes to measure on.
struct BaseClassSweep {
  std::vector<FittedMethod> fitted;  ///< each is refitted with its parameters
  EpisodeOptions episodes;
  std::vector<int64_t> counts;  ///< numbers of base classes
};

/// Measures the methods as a function of the number of base classes that they are fitted on, on the same episodes;
/// methods that use base features get those classes'. The encoder is unchanged. Methods that need a completion model
/// have no point, since it is not retrained.
std::vector<SeriesPoint> accuracy_by_base_classes(const AnalysisInputs& inputs, const BaseClassSweep& sweep,
                                                  Progress& progress);

/// Returns 8, 16, 32, ... below `available`, and `available`; {available} if it is at most 8.
std::vector<int64_t> base_classes_up_to(int64_t available);

}  // namespace protocom
