#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "eval/evaluate.h"

namespace protocom {

/// Returns the row that is best on validation episodes among those that classify each image alone: "mean-fusion" unless
/// the gain of "mean" or "completed" over it exceeds its 95 % interval. "mean-fusion" if rows are missing.
std::string best_inductive_row(const std::vector<MethodScores>& validation);

/// Returns "Knowledge adds 4.6 ± 0.5 points to the 69.4 % of the mean of 1 image (mean-fusion, val episodes); classify
/// uses mean-fusion." or "... adds nothing measurable ..., costs ...". Empty if rows are missing.
std::string completion_gain_sentence(const std::vector<MethodScores>& validation, int64_t k_shot);

}  // namespace protocom
