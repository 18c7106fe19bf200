#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace protocom {

/// The deepest nesting of arrays and objects that is read: deeper ones exhaust the stack of whoever walks over them.
inline constexpr int kDeepestJson = 100;

/// Parses JSON from outside. Throws Error that names `where` (a file), line and column of a syntax error; also for
/// nesting deeper than kDeepestJson and for text whose values would take more than 1 GiB of memory.
nlohmann::json parse_json(std::string_view text, const std::string& where);

/// parse_json of a whole file.
nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace protocom
