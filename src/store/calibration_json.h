#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "protocom/calibration.h"

namespace protocom {

/// As recognizers keep it (docs/formats.md, "calibrations").
nlohmann::json to_json(const Calibration& calibration);
/// `where` names it in messages. Throws Error for missing fields and values that cannot be.
Calibration calibration_from(const nlohmann::json& json, const std::string& where);

}  // namespace protocom
