#pragma once
#include <filesystem>
#include <vector>

namespace protocom {

/// Every file below a folder at any depth, in no order. Links are followed, but for those to a folder that they lie in.
/// Throws Error for what cannot be listed.
std::vector<std::filesystem::directory_entry> files_below(const std::filesystem::path& folder);

}  // namespace protocom
