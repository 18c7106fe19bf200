#pragma once
#include <string>
#include <string_view>

namespace protocom {

/// Encodes bytes by RFC 4648, with padding.
std::string base64(std::string_view bytes);

/// Decodes base64. Throws Error for invalid text.
std::string from_base64(std::string_view text);

}  // namespace protocom
