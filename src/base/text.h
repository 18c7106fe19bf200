#pragma once
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// The text without spaces, tabs and line ends before and after it.
std::string_view trimmed(std::string_view text);

/// ASCII letters in lower case; all other bytes as they are.
std::string lowercase(std::string_view text);

/// Whether the last bytes of the text are `end`.
bool ends_with(std::string_view text, std::string_view end);

/// The number that the whole text is, in the C locale whatever the machine's is; nothing if it is none.
template <typename Number>
std::optional<Number> number_from(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// What stands between separators, views of `text`: of "a,,b" by commas "a", "" and "b", of an empty text one empty
/// piece.
std::vector<std::string_view> split_at(std::string_view text, char separator);

/// The text with `to` wherever it has `from`, which is not empty.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

/// "a, b, c", of more than `most` names "a, b, ...".
std::string first_of(const std::vector<std::string>& names, size_t most);

/// What people call it, in the first of a title's words: "bird" of "bird, fowl".
std::string first_word(const std::string& title);

/// "n01503061 (bird)": the name, and what people call it where that is something else and known.
std::string name_and_word(const std::string& name, const std::string& title);

}  // namespace protocom
