#pragma once
#include <string>
#include <string_view>

namespace protocom {

/// "image/png", "image/jpeg" or "image/webp", told by the first bytes. Throws Error that names the file.
std::string media_type(std::string_view bytes, const std::string& name);

}  // namespace protocom
