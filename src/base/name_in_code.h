#pragma once
#include <filesystem>
#include <string>

namespace protocom {

/// The path where it can stand between quotes in a line of Python that a shell is given: letters, digits, blanks and
/// `._-+=,@/`. `instead` for any other: what is pasted must not run
/// what a file is called.
std::string name_in_code(const std::filesystem::path& path, const char* instead);

}  // namespace protocom
