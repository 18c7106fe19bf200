#pragma once
#include <vector>

#include "protocom/features/preprocessing_trial.h"

namespace protocom::cli {

/// What `extract --preprocess` takes in place of a preset.
inline constexpr const char* kCompare = "compare";

/// Prints trials on the same images side by side, and which preset they speak for, if for one.
void print_comparison(const std::vector<PreprocessingTrial>& trials);

}  // namespace protocom::cli
