#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace protocom {

/// Returns JSON as text, with invalid UTF-8 replaced. `indent`: spaces per level; -1: one line. Use it instead of
/// dump(), which would be compiled again in each source that calls it.
std::string json_text(const nlohmann::json& value, int indent = -1);

/// Does so on one line, but throws nlohmann::json::exception for invalid UTF-8.
std::string strict_json_text(const nlohmann::json& value);

/// Parses JSON without throwing: is_discarded() if the text is not JSON. Limits neither nesting nor size; for external
/// files use parse_json (io/json.h).
nlohmann::json json_from_text(std::string_view text);

}  // namespace protocom
