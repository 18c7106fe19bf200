#pragma once
#include <cstdint>

namespace protocom {

/// Settings of GaussFusion.
struct GaussFusionOptions {
  double scale = 10.0;  ///< lambda of equation 12 (the paper's value)
  /// How often queries are weighted. The paper does it once; the authors' later "Prototype Completion for Few-Shot
  /// Learning" (TPAMI 2023) repeatedly (EM): each Gaussian's mean then replaces its prototype.
  int64_t steps = 1;
  double epsilon = 1e-6;  ///< added to both variances; if both vanish the two means have equal weight
};

}  // namespace protocom
