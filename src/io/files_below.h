#pragma once
#include <filesystem>
#include <vector>

namespace protocom {

/// Returns every file below a folder at any depth, unordered. Links are followed, except those to a parent folder.
/// Throws Error for folders that cannot be listed, and after 20,000 links to folders, which may multiply.
std::vector<std::filesystem::directory_entry> files_below(const std::filesystem::path& folder);

}  // namespace protocom
