#pragma once
#include <nlohmann/json.hpp>

#include "protocom/eval/statistics.h"

namespace protocom {

/// {"value", "ci95"}: how every analysis writes an estimate.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Estimate, value, ci95)

}  // namespace protocom
