#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace protocom {

/// Returns JSON for printing: invalid UTF-8 replaced, characters that control terminals (letter_at) as \u escapes.
/// `indent`: spaces per level; -1: one line.
std::string printed_json(const nlohmann::json& value, int indent = -1);

}  // namespace protocom
