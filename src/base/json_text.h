#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace protocom {

/// JSON as text, with what is not UTF-8 replaced. `indent`: spaces a level; -1: one line. Use it in
/// place of dump(), which each source that calls it would compile again.
std::string json_text(const nlohmann::json& value, int indent = -1);

/// The same on one line, but throws nlohmann::json::exception where a text is not UTF-8.
std::string strict_json_text(const nlohmann::json& value);

/// Parses JSON without throwing: is_discarded() if the text is not JSON. Limits neither nesting nor size; parse_json
/// (io/json.h) does, for files from outside.
nlohmann::json json_from_text(std::string_view text);

}  // namespace protocom
