#pragma once
#include <filesystem>

namespace protocom {

/// Throws Error when a folder, a pipe or a device is there: what a file names must not be waited for, or read without
/// end. Nothing there is for whoever opens it to say.
void check_plain_file(const std::filesystem::path& path);

}  // namespace protocom
