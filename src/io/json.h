#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace protocom {

/// The deepest supported nesting of arrays and objects: deeper nesting exhausts the stack of recursive readers.
inline constexpr int kDeepestJson = 100;

/// Parses external JSON. Throws Error that names `where` (a file), line and column of a syntax error; also for nesting
/// deeper than kDeepestJson, for text whose values would take more than 1 GiB of memory, and for a non-integer number
/// of magnitude 2^63 or more: no int64_t can hold it.
nlohmann::json parse_json(std::string_view text, const std::string& where);

/// Returns the message of parse_json for invalid JSON; `byte`: where a parser stopped, counted from 1.
std::string syntax_error(std::string_view text, size_t byte, const std::string& where);

/// Parses a whole file by parse_json.
nlohmann::json read_json(const std::filesystem::path& path);

/// Reads a JSON number as a count, an identity, a size: get() would truncate a fraction and wrap a large number. Throws
/// nlohmann::json::type_error, as get() does, for a number that is not whole or is outside Number's range.
template <typename Number>
Number whole_number(const nlohmann::json& value) {
  using Limits = std::numeric_limits<Number>;
  bool fits = false;
  if (value.is_number_unsigned())
    fits = value.get<uint64_t>() <= static_cast<uint64_t>(Limits::max());
  else if (value.is_number_integer() && value.get<int64_t>() < 0)
    fits = Limits::is_signed && value.get<int64_t>() >= static_cast<int64_t>(Limits::min());
  else if (value.is_number_integer())
    fits = static_cast<uint64_t>(value.get<int64_t>()) <= static_cast<uint64_t>(Limits::max());
  if (!fits) throw nlohmann::json::type_error::create(302, "expected a whole number in range", &value);
  return value.get<Number>();
}

/// Returns the whole number in `object` under `key`; `otherwise` if there is none.
template <typename Number>
Number whole_number_or(const nlohmann::json& object, const char* key, Number otherwise) {
  const auto found = object.find(key);
  return found == object.end() ? otherwise : whole_number<Number>(*found);
}

}  // namespace protocom
