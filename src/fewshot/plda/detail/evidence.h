#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "fewshot/plda/fit.h"

namespace protocom {

/// Classes and the space of others.
struct HeldOutPart {
  PldaSpaceFitter fitter;
  UnitMoments held_out;
  FloatMatrix features;                    ///< some images of the held-out classes, for tasks
  std::vector<std::vector<int64_t>> rows;  ///< of each held-out class
};

/// What hyper-parameters are chosen by: held-out base classes, and the val classes.
struct HeldOutEvidence {
  std::vector<HeldOutPart> folds;
  std::vector<HeldOutPart> val;  ///< one or none

  /// Val classes if there are any: no image of theirs shaped the features.
  [[nodiscard]] const std::vector<HeldOutPart>& for_tasks() const { return val.empty() ? folds : val; }
};

/// The space of all base classes, and what to measure it by.
std::pair<PldaSpaceFitter, HeldOutEvidence> hold_out(const PldaFitInputs& inputs, const PldaFitOptions& options);

}  // namespace protocom
