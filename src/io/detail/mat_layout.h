#pragma once
#include <filesystem>

namespace protocom {

/// Walks the elements of a MATLAB file of version 5 ("MAT-File Format", MathWorks, chapter 1), including deflated ones,
/// and throws Error if one states more data than is stored, or so much more than its packed bytes that no real data
/// would: the library that reads the values allocates memory for the stated size, and fills missing data with zeros.
/// Uses some 100 KiB itself, whatever the file states. Other versions (4, 7.3), objects and functions are refused by
/// name, with the remedy.
void check_mat_layout(const std::filesystem::path& path);

}  // namespace protocom
