#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fewshot/plda/fit.h"

namespace protocom {

/// What a fit found, in sentences.
std::vector<std::string> findings_of(const PldaFit& fit);

/// Which settings were chosen, in lines "what: setting (figure unit)": for more detail (--verbose).
std::vector<std::string> settings_of(const PldaFit& fit);

/// All that was chosen and all that was tried, for programs (docs/formats.md, "fitted-method").
nlohmann::json details_of(const PldaFit& fit);

}  // namespace protocom
