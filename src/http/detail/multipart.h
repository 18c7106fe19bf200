#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace protocom::http {

/// A part of a form.
struct Part {
  std::string name;
  std::string file_name;  ///< as sent by the client; a label, never a path
  std::string_view content;
};

/// Returns the media type of a Content-Type in lower case, without its parameters: "multipart/form-data".
std::string media_type(std::string_view content_type);

/// Returns the parts of a multipart/form-data body (RFC 7578), which refer to it. Strict: throws HttpError 400 for a
/// missing or impossible boundary, text before the first or after the last part, a part without an end or without a
/// name, and headers longer than 4 KiB; 413 for more than `most_parts`.
std::vector<Part> parse_multipart(std::string_view body, std::string_view content_type, int64_t most_parts);

}  // namespace protocom::http
