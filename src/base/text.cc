#include "base/text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace protocom {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

std::string lowercase(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string made;
  size_t begin = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, begin)) {
    made.append(text, begin, at - begin).append(to);
    begin = at + from.size();
  }
  return made.append(text, begin);
}

std::string first_of(const std::vector<std::string>& names, size_t most) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + shown, ", "), names.size() > most ? ", ..." : "");
}

std::string first_word(const std::string& title) { return title.substr(0, title.find(", ")); }

namespace {

/// Whether the name is the word itself, with underscores for spaces, after at most a number and a dot ("012.Blue_Jay"
/// and "Blue Jay").
bool is_spelt_out(std::string name, const std::string& word) {
  std::replace(name.begin(), name.end(), '_', ' ');
  const size_t number = name.find_first_not_of("0123456789");
  if (number != std::string::npos && number > 0 && name[number] == '.') name.erase(0, number + 1);
  return name == word;
}

}  // namespace

std::string name_and_word(const std::string& name, const std::string& title) {
  const std::string word = first_word(title);
  return word.empty() || is_spelt_out(name, word) ? name : fmt::format("{} ({})", name, word);
}

}  // namespace protocom
