#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "fewshot/plda/fit.h"

namespace protocom {

/// Held-out classes and the space of the others.
struct HeldOutPart {
  PldaSpaceFitter fitter;
  UnitMoments held_out;
  FloatMatrix features;                    ///< some images of the held-out classes, for tasks
  std::vector<std::vector<int64_t>> rows;  ///< of each held-out class
};

/// The evidence for choosing hyper-parameters: held-out base classes, and the val classes.
struct HeldOutEvidence {
  std::vector<HeldOutPart> folds;
  std::vector<HeldOutPart> val;  ///< one or none

  /// Returns the val classes if there are any: none of their images shaped the features.
  [[nodiscard]] const std::vector<HeldOutPart>& for_tasks() const { return val.empty() ? folds : val; }
};

/// Returns the space of all base classes, and the evidence to measure it by.
std::pair<PldaSpaceFitter, HeldOutEvidence> hold_out(const PldaFitInputs& inputs, const PldaFitOptions& options);

}  // namespace protocom
