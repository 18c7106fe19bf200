#include "io/json.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "io/files.h"

namespace protocom {
namespace {

using nlohmann::json;

// Measured with nlohmann 3.11: most memory of a value, and additional memory of an array or object.
constexpr int64_t kBytesAValue = 90;
constexpr int64_t kBytesAContainer = 100;
constexpr int64_t kLargestText = int64_t{1} << 30;

/// Checks the size in one pass over the text without building anything, since a built value must also be traversed and
/// freed.
void check_extent(std::string_view text, const std::string& where) {
  int depth = 0;
  int64_t bytes = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) fail("{}: its JSON is nested deeper than {} levels", where, kDeepestJson);
      bytes += kBytesAContainer;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',') {
      bytes += kBytesAValue;
    }
  }
  if (bytes > kLargestText) fail("{}: its JSON has too many values, {} MiB in memory", where, bytes >> 20);
}

/// Refuses numbers whose conversion to int64_t, as for every count, is undefined.
void check_numbers(const json& value, const std::string& where) {
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63
  if (value.is_structured()) {
    for (const json& inner : value) check_numbers(inner, where);
  } else if (value.is_number_float() && !(std::abs(value.get<double>()) < kBeyond)) {
    fail("{}: its JSON has the number {:g}, whose magnitude is 2^63 or more", where, value.get<double>());
  }
}

}  // namespace

std::string syntax_error(std::string_view text, size_t byte, const std::string& where) {
  const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const int64_t line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  if (before.size() == text.size()) return fmt::format("{}:{}: not valid JSON: it ends too early", where, line);
  return fmt::format("{}:{}: not valid JSON at column {}, near '{}'", where, line, column,
                     excerpt(text.substr(before.size()), 20));
}

json parse_json(std::string_view text, const std::string& where) {
  check_extent(text, where);
  try {
    json parsed = json::parse(text);
    check_numbers(parsed, where);
    return parsed;
  } catch (const json::parse_error& error) {
    fail("{}", syntax_error(text, error.byte, where));
  } catch (const json::exception& error) {
    fail("{}: not valid JSON: {}", where, reason_of(error));
  }
}

json read_json(const std::filesystem::path& path) {
  return reading(path, [&] { return parse_json(read_file(path), path.string()); });
}

}  // namespace protocom
