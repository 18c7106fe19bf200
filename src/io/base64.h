#pragma once
#include <string>
#include <string_view>

namespace protocom {

/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

/// The bytes again. Throws Error for what is not base64.
std::string from_base64(std::string_view text);

}  // namespace protocom
