#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "protocom/calibration.h"

namespace protocom {

/// Returns a calibration as recognizers store it (docs/formats.md, "calibrations").
nlohmann::json to_json(const Calibration& calibration);
/// Reads a calibration; `where` names it in messages. Throws Error for missing fields and impossible values.
Calibration calibration_from(const nlohmann::json& json, const std::string& where);

}  // namespace protocom
