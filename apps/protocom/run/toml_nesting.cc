#include "run/toml_nesting.h"

#include <algorithm>
#include <string>

namespace protocom::cli {
namespace {

/// Where the string that begins at `begin` ends: behind its quotes, or at the end of its line where it has none.
size_t end_of_string(std::string_view text, size_t begin) {
  const char quote = text[begin];
  const std::string three(3, quote);
  const bool is_long = text.substr(begin, 3) == three;
  const std::string_view closing = is_long ? std::string_view(three) : text.substr(begin, 1);
  for (size_t i = begin + closing.size(); i < text.size(); ++i) {
    if (text.substr(i, closing.size()) == closing) return i + closing.size();
    if (text[i] == '\n' && !is_long) return i;
    if (text[i] == '\\' && quote == '"') ++i;
  }
  return text.size();
}

bool ends_key(char c) { return c == '\n' || c == '=' || c == ',' || c == '{' || c == '['; }

}  // namespace

int64_t line_of_deep_key(std::string_view toml, int64_t most) {
  int64_t line = 1, parts = 1;
  for (size_t i = 0; i < toml.size();) {
    const char c = toml[i];
    if (c == '"' || c == '\'') {
      const size_t end = end_of_string(toml, i);
      line += std::count(toml.begin() + static_cast<int64_t>(i), toml.begin() + static_cast<int64_t>(end), '\n');
      i = end;
      continue;
    }
    if (c == '#') {
      i = std::min(toml.find('\n', i), toml.size());
      continue;
    }
    parts = ends_key(c) ? 1 : parts + (c == '.' ? 1 : 0);
    if (parts > most) return line;
    line += c == '\n' ? 1 : 0;
    ++i;
  }
  return 0;
}

}  // namespace protocom::cli
