#pragma once
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace protocom {

/// Parses a number of a vector in a text file, in the C locale; nothing if it is invalid. Too small numbers become 0
/// and too large ones infinite: 1e-50 is a valid number in a text file, though not a float.
inline std::optional<float> vector_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return static_cast<float>(std::strtod(std::string(text).c_str(), nullptr));
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace protocom
