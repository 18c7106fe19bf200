#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "images/skipped_files.h"

namespace protocom {

/// What lies below a folder at any depth, folders left out that no walk enters.
struct WalkedFolder {
  std::vector<std::filesystem::path> images = {};  ///< in no order
  SkippedFiles skipped = {};                       ///< what is not an image, and folders that were not entered again
  std::error_code error = {};                      ///< why something could not be listed
};

/// Looks through one folder, whatever links lead to it, with skip_permission_denied or none. Each real folder is
/// visited once: where it lies, else by the first link to it. A link to a folder above its place is counted as skipped,
/// and so is every further way to a folder.
WalkedFolder walk_folder(const std::filesystem::path& folder, std::filesystem::directory_options options);

/// The same for several [n], which may be links: no real folder is in two of them, and each of them keeps its own
/// where a link in another one leads there.
std::vector<WalkedFolder> walk_folders(const std::vector<std::filesystem::path>& folders);

/// Adds the ends of a path as `id` says it, longest first: a/b/c.jpg, b/c.jpg, c.jpg. One that ends several paths gets
/// an empty one.
void add_ends(std::string id, const std::filesystem::path& path, std::map<std::string, std::filesystem::path>& ends);

}  // namespace protocom
