#include "report/picture.h"

#include "protocom/core/error.h"

namespace protocom {

std::string media_type(std::string_view bytes, const std::string& name) {
  if (bytes.substr(0, 8) == "\x89PNG\r\n\x1a\n") return "image/png";
  if (bytes.substr(0, 3) == "\xff\xd8\xff") return "image/jpeg";
  if (bytes.substr(0, 4) == "RIFF" && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP") return "image/webp";
  fail("{} is not a PNG, JPEG or WebP picture", name);
}

}  // namespace protocom
