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

/// What people call it, in the first of a title's words: "bird" of "bird, fowl".
std::string first_word(const std::string& title);

/// "n01503061 (bird)": the name, and what people call it where that is something else and known.
std::string name_and_word(const std::string& name, const std::string& title);

}  // namespace protocom
