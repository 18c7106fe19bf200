#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "images/skipped_files.h"

namespace protocom {

/// The content of a folder at any depth, except folders that no walk enters.
struct WalkedFolder {
  std::vector<std::filesystem::path> images = {};  ///< unordered
  SkippedFiles skipped = {};   ///< files that are not images, and folders that were not entered again
  std::error_code error = {};  ///< why something could not be listed
};

/// Walks one folder, whatever links lead to it, with skip_permission_denied or none. Each real folder is visited once:
/// at its real path, else by the first link to it. A link to a folder above it is counted as skipped, and so is every
/// further way to a folder.
WalkedFolder walk_folder(const std::filesystem::path& folder, std::filesystem::directory_options options);

/// Walks several folders [n], which may be links: no real folder is in two of them, and each keeps its own even if a
/// link in another leads there.
std::vector<WalkedFolder> walk_folders(const std::vector<std::filesystem::path>& folders);

/// Adds the ends of a path given by `id`, longest first: a/b/c.jpg, b/c.jpg, c.jpg. An end shared by several paths gets
/// an empty path.
void add_ends(std::string id, const std::filesystem::path& path, std::map<std::string, std::filesystem::path>& ends);

}  // namespace protocom
