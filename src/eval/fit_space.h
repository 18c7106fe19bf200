#pragma once
#include <cstdint>

#include "base/progress.h"
#include "fewshot/fitted_method.h"

namespace protocom {

/// Most images to group; more are sampled evenly, since there are n x n cosines between them.
inline constexpr int64_t kMostToGroup = 20'000;

/// Fits a space that follows the photos of any classes (FittedMethod of `plda`, Method::as_space) from unlabelled
/// images: `plda` is fitted on groups of near neighbours instead of base classes (neighbour_groups). It has no classes.
/// features: float32 [n, d]. Throws Error if there are fewer than 16 groups.
FittedMethod fit_space(const Array& features, uint64_t seed, Progress& progress);

}  // namespace protocom
