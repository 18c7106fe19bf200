#pragma once
#include <filesystem>

namespace protocom {

/// Walks the elements of a MATLAB file of version 5 ("MAT-File Format", MathWorks, chapter 1), those that are deflated
/// too, and throws Error if one announces more than is stored, or so much more than its packed bytes that no data of
/// photos would: the library that reads the values takes memory for what is announced, and fills up what is missing by
/// zeros. Takes some 100 KiB itself, whatever the file states. Other versions (4, 7.3), objects and functions are
/// refused by name, with what to do.
void check_mat_layout(const std::filesystem::path& path);

}  // namespace protocom
