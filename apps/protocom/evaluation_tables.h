#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace protocom::cli {

/// Prints what findings_json() found: a table of accuracies with the gains over `baseline`, other comparisons, a line a
/// seed, and what was checked.
void print_findings(const nlohmann::json& findings, const std::string& baseline);

}  // namespace protocom::cli
