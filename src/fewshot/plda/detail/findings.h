#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fewshot/plda/fit.h"

namespace protocom {

/// Returns what a fit found, in sentences.
std::vector<std::string> findings_of(const PldaFit& fit);

/// Returns the settings that were chosen, in lines "what: setting (figure unit)": for more detail (--verbose).
std::vector<std::string> settings_of(const PldaFit& fit);

/// Returns everything that was chosen or tried, for programs (docs/formats.md, "fitted-method").
nlohmann::json details_of(const PldaFit& fit);

}  // namespace protocom
