#include "http/detail/multipart.h"

#include <algorithm>

#include "base/text.h"
#include "http/detail/http_error.h"
#include "http/detail/target.h"

namespace protocom::http {
namespace {

constexpr size_t kLongestBoundary = 70;  // RFC 2046
constexpr size_t kLongestHeaders = 4096;

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Takes a quoted string or a token from the front of `text`.
std::string take_value(std::string_view& text) {
  std::string value;
  if (text.empty() || text.front() != '"') {
    const size_t end = std::min(text.find(';'), text.size());
    value = std::string(trim(text.substr(0, end)));
    text.remove_prefix(end);
    return value;
  }
  size_t i = 1;
  for (; i < text.size() && text[i] != '"'; ++i) {
    // Browsers send a backslash unescaped and escape quotes by %22; other clients escape quotes by a backslash.
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
    value += text[i];
  }
  if (i >= text.size()) refuse(400, "a quoted value of a header is not terminated");
  text.remove_prefix(i + 1);
  text = trim(text);
  return value;
}

/// Returns a parameter of a header's value: `name` in "form-data; name=x". Throws for a duplicate.
std::string parameter(std::string_view value, std::string_view name) {
  std::string found;
  bool seen = false;
  value.remove_prefix(std::min(value.find(';'), value.size()));
  while (!value.empty()) {
    if (value.front() != ';') refuse(400, "parameters of a header: expected ';' between them");
    value = trim(value.substr(1));
    const size_t equals = value.find('=');
    if (equals == std::string_view::npos) {
      if (!value.empty()) refuse(400, "a header's parameter has no value");
      break;
    }
    const std::string key = lowercase(trim(value.substr(0, equals)));
    value = trim(value.substr(equals + 1));
    const std::string content = take_value(value);
    if (key != name) continue;
    if (seen) refuse(400, "duplicate parameter '{}' of a header", name);
    seen = true;
    found = content;
  }
  return found;
}

std::string find_boundary(std::string_view content_type) {
  const std::string boundary = parameter(content_type, "boundary");
  if (boundary.empty() || boundary.size() > kLongestBoundary || !is_plain_text(boundary) || boundary.back() == ' ')
    refuse(400, "a multipart body needs a boundary of 1 to {} characters in its Content-Type", kLongestBoundary);
  return boundary;
}

/// Returns the value of Content-Disposition among a part's header lines.
std::string_view find_disposition(std::string_view headers) {
  while (!headers.empty()) {
    const size_t end = std::min(headers.find("\r\n"), headers.size());
    const std::string_view line = headers.substr(0, end);
    headers.remove_prefix(std::min(end + 2, headers.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) refuse(400, "a part has a header line without a name");
    if (lowercase(line.substr(0, colon)) == "content-disposition") return trim(line.substr(colon + 1));
  }
  return {};
}

Part read_part(std::string_view headers, std::string_view content) {
  const std::string_view disposition = find_disposition(headers);
  if (media_type(disposition) != "form-data") refuse(400, "each part needs 'Content-Disposition: form-data; name=...'");
  Part part{parameter(disposition, "name"), parameter(disposition, "filename"), content};
  if (part.name.empty()) refuse(400, "each part of a form needs a name");
  if (!is_plain_text(part.name)) refuse(400, "name of a part: expected UTF-8 without control characters");
  return part;
}

/// Removes the expected text from the front.
void take(std::string_view& text, std::string_view expected, const char* complaint) {
  if (text.substr(0, expected.size()) != expected) refuse(400, "{}", complaint);
  text.remove_prefix(expected.size());
}

}  // namespace

std::string media_type(std::string_view content_type) {
  return lowercase(trim(content_type.substr(0, content_type.find(';'))));
}

std::vector<Part> parse_multipart(std::string_view body, std::string_view content_type, int64_t most_parts) {
  const std::string first = "--" + find_boundary(content_type);
  const std::string delimiter = "\r\n" + first;
  std::vector<Part> parts;
  take(body, first, "a multipart body must begin with its boundary");
  while (body.substr(0, 2) != "--") {
    take(body, "\r\n", "unexpected text after a boundary");
    if (static_cast<int64_t>(parts.size()) == most_parts) refuse(413, "a form has at most {} parts", most_parts);
    const size_t blank = body.substr(0, kLongestHeaders).find("\r\n\r\n");
    if (blank == std::string_view::npos) refuse(400, "the headers of a part exceed {} bytes", kLongestHeaders);
    const std::string_view headers = body.substr(0, blank);
    body.remove_prefix(blank + 4);
    const size_t end = body.find(delimiter);
    if (end == std::string_view::npos) refuse(400, "a part is not terminated: missing boundary after it");
    parts.push_back(read_part(headers, body.substr(0, end)));
    body.remove_prefix(end + delimiter.size());
  }
  body.remove_prefix(2);
  if (!body.empty() && body != "\r\n") refuse(400, "unexpected text after the last part");
  return parts;
}

}  // namespace protocom::http
