#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// The text without spaces, tabs and line ends before and after it.
std::string_view trimmed(std::string_view text);

/// "a, b, c", of more than `most` names "a, b, ...".
std::string first_of(const std::vector<std::string>& names, size_t most);

}  // namespace protocom
