#pragma once
#include <filesystem>
#include <string>

namespace protocom {

/// Returns the path if it is safe between quotes in Python code pasted into a shell: letters, digits, blanks and
/// `._-+=,@/`. Otherwise returns `instead`, so that pasting cannot execute a file's name.
std::string name_in_code(const std::filesystem::path& path, const char* instead);

}  // namespace protocom
