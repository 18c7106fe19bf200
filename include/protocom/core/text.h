#pragma once
#include <string_view>

namespace protocom {

/// The text without spaces, tabs and line ends before and after it.
std::string_view trimmed(std::string_view text);

}  // namespace protocom
