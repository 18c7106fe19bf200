#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "protocom/estimate.h"

namespace protocom::v0 {
/// How every analysis writes it.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Estimate, value, ci95)
}  // namespace protocom::v0

namespace protocom {

/// The estimate from one value per episode. Throws Error without a value.
Estimate estimate(const std::vector<double>& values);

/// The mean and interval of the differences `a[i] - b[i]` of two methods on the same episodes. That they met the same
/// easy and hard episodes cancels, so this interval decides, not whether two intervals overlap. Throws Error
/// for vectors of different sizes or without a value.
Estimate paired_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace protocom
