#include "http/detail/target.h"

#include <fmt/format.h>

#include <cctype>

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "http/detail/http_error.h"

namespace protocom::http {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decode(std::string_view part, std::string_view where) {
  std::string text;
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '%') {
      text += part[i];
      continue;
    }
    const int high = i + 2 < part.size() ? hex_digit(part[i + 1]) : -1;
    const int low = i + 2 < part.size() ? hex_digit(part[i + 2]) : -1;
    if (high < 0 || low < 0) refuse(400, "invalid escape in the {}: a '%' needs two hexadecimal digits", where);
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (!is_plain_text(text)) refuse(400, "{}: expected UTF-8 without control characters", where);
  return text;
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string made;
  for (const unsigned char c : text) {
    const bool plain = std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    made += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return made;
}

bool is_plain_text(std::string_view text) { return is_utf8(text) && !steers_terminals(text); }

std::vector<std::string> path_of(std::string_view target) {
  if (target.empty() || target.front() != '/') refuse(400, "target: expected a path");
  if (target.find('?') != std::string_view::npos) refuse(400, "this path has no query parameters");
  std::vector<std::string> parts;
  if (target == "/") return parts;
  for (const std::string_view part : split_at(target.substr(1), '/')) {
    parts.push_back(decode(part, "path"));
    if (parts.back().empty()) refuse(404, "not found");
  }
  return parts;
}

std::string_view without_query(std::string_view target) { return target.substr(0, target.find('?')); }

std::map<std::string, std::string> query_of(std::string_view target) {
  std::map<std::string, std::string> query;
  const size_t begin = target.find('?');
  if (begin == std::string_view::npos) return query;
  for (const std::string_view parameter : split_at(target.substr(begin + 1), '&')) {
    const size_t equals = parameter.find('=');
    if (equals == std::string_view::npos || equals == 0) refuse(400, "query parameter: expected NAME=VALUE");
    const std::string name = decode(parameter.substr(0, equals), "query");
    if (!query.emplace(name, decode(parameter.substr(equals + 1), "query")).second)
      refuse(400, "duplicate query parameter '{}'", excerpt(name));
  }
  return query;
}

}  // namespace protocom::http
