#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eval/analysis_sweep.h"

namespace protocom {

/// Generalised few-shot tasks: novel classes with few labelled images and all base classes compete with one another.
struct GeneralisedOptions {
  EpisodeOptions episodes;                 ///< of the novel classes
  std::vector<int64_t> shots = {0, 1, 5};  ///< labelled images per novel class; 0 for methods that allow it
  int64_t base_shots = 20;                 ///< labelled images per base class
};

/// Percent of queries assigned to their own class among all classes.
struct GeneralisedAccuracy {
  Estimate novel;     ///< for queries of novel classes
  Estimate base;      ///< for queries of base classes
  Estimate harmonic;  ///< 2 novel base / (novel + base), episode by episode
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GeneralisedAccuracy, novel, base, harmonic)

/// The accuracy with `offset` added to every novel class's logit.
struct GeneralisedWithOffset {
  double offset = 0.0;
  GeneralisedAccuracy accuracy;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GeneralisedWithOffset, offset, accuracy)

/// The result of a method.
struct GeneralisedResult {
  std::string method;
  std::string mode;
  double shots = 0.0;
  GeneralisedAccuracy accuracy;
  /// With the offset that gives the best harmonic mean on val classes as novel ones (calibrated stacking: Chao et al.,
  /// ECCV 2016): backbone and methods know base classes better than any new one. Empty without val classes.
  std::optional<GeneralisedWithOffset> corrected;
};
void to_json(nlohmann::json& object, const GeneralisedResult& result);

/// Runs generalised tasks; every episode has as many queries of base classes (of n_way drawn ones, n_query each) as of
/// novel ones. Methods that need more labelled images than a point has are left out there. Throws Error like
/// sample_episodes, without base classes, and for one with fewer than base_shots + n_query images.
std::vector<GeneralisedResult> analyse_generalised(const EvaluateInputs& inputs, const Methods& methods,
                                                   const GeneralisedOptions& options, Progress& progress);

}  // namespace protocom
