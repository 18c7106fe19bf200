#pragma once
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// Returns the text without leading and trailing spaces, tabs and line ends.
std::string_view trimmed(std::string_view text);

/// Converts ASCII letters to lower case; all other bytes are unchanged.
std::string lowercase(std::string_view text);

/// Whether the last bytes of the text are `end`.
bool ends_with(std::string_view text, std::string_view end);

/// Parses the whole text as a number, in the C locale; nothing if it is not one.
template <typename Number>
std::optional<Number> number_from(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Splits at separators into views of `text`: "a,,b" at commas into "a", "" and "b", an empty text into one empty
/// piece.
std::vector<std::string_view> split_at(std::string_view text, char separator);

/// Replaces every occurrence of `from`, which is not empty, by `to`.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

/// Returns "a, b, c", for more than `most` names "a, b, ...".
std::string first_of(const std::vector<std::string>& names, size_t most);

/// Returns the first of a title's words, the common name: "bird" for "bird, fowl".
std::string first_word(const std::string& title);

/// Returns "n01503061 (bird)": the name, and the common name if that is known and different.
std::string name_and_word(const std::string& name, const std::string& title);

}  // namespace protocom
