#pragma once
#include <cstdint>
#include <vector>

#include "eval/analysis_sweep.h"
#include "fewshot/fitted_method.h"

namespace protocom {

/// `count` random base classes with all others of the features; those of one count are among those of every larger one.
/// Throws UsageError for fewer than 1 or more than there are.
FeatureSet with_fewer_base_classes(const FeatureSet& features, int64_t count, uint64_t seed);

/// What to fit again, on how many base classes, and where to measure it.
struct BaseClassSweep {
  std::vector<FittedMethod> fitted;  ///< each is fitted again with its parameters
  EpisodeOptions episodes;
  std::vector<int64_t> counts;  ///< of base classes
};

/// The methods against the number of base classes that they are fitted on, on the same episodes; methods that use base
/// features get those classes'. The encoder stays as it is. Methods that need a completion model have no point, since
/// it is not trained again.
std::vector<SeriesPoint> accuracy_by_base_classes(const AnalysisInputs& inputs, const BaseClassSweep& sweep,
                                                  Progress& progress);

/// 8, 16, 32, ... below `available`, and that; {available} where it is at most 8.
std::vector<int64_t> base_classes_up_to(int64_t available);

}  // namespace protocom
