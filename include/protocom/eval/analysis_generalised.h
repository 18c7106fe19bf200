#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "protocom/eval/analysis_json.h"
#include "protocom/eval/analysis_sweep.h"

namespace protocom {

/// Generalised few-shot tasks: novel classes with few labelled images and all base classes, told apart from one
/// another.
struct GeneralisedOptions {
  EpisodeOptions episodes;              ///< of the novel classes
  std::vector<int64_t> shots = {1, 5};  ///< labelled images of a novel class; 0 for methods that can
  int64_t base_shots = 20;              ///< labelled images of a base class
};

/// What a method reached: percent of queries that went to their own class among all of them.
struct GeneralisedResult {
  std::string method;
  std::string mode;
  double shots = 0.0;
  Estimate novel;     ///< of queries of novel classes
  Estimate base;      ///< of queries of base classes
  Estimate harmonic;  ///< 2 novel base / (novel + base), episode by episode
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GeneralisedResult, method, mode, shots, novel, base, harmonic)

/// Runs them; every episode has as many queries of base classes (of n_way drawn ones, n_query each) as of novel ones.
/// Methods that need more labelled images than a point has are left out there. Throws Error like sample_episodes, and
/// for a base class with fewer than base_shots + n_query images.
std::vector<GeneralisedResult> analyse_generalised(const EvaluateInputs& inputs, const Methods& methods,
                                                   const GeneralisedOptions& options, Progress& progress);

}  // namespace protocom
