#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "protocom/estimate.h"

namespace protocom::v0 {
/// The JSON form common to all analyses.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Estimate, value, ci95)
}  // namespace protocom::v0

namespace protocom {

/// Returns the estimate from one value per episode. Throws Error without a value.
Estimate estimate(const std::vector<double>& values);

/// Returns the mean and interval of the differences `a[i] - b[i]` of two methods on the same episodes. The difficulty
/// of episodes cancels, so this interval decides, not whether two intervals overlap. Throws Error for vectors of
/// different sizes or without a value.
Estimate paired_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace protocom
