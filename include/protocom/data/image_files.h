#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace protocom {

/// The image files that paths stand for: files as they are, folders walked (files with an image's suffix whose names do
/// not begin with a dot), in a stable order. Throws Error for a path that is not there or a folder without images.
std::vector<std::filesystem::path> find_images(const std::vector<std::string>& paths);

}  // namespace protocom
