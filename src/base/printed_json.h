#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace protocom {

/// JSON as it is printed: what is not UTF-8 replaced, what steers terminals (letter_at) as \u escapes. `indent`:
/// spaces a level; -1: one line.
std::string printed_json(const nlohmann::json& value, int indent = -1);

}  // namespace protocom
