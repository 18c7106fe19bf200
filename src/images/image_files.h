#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "images/skipped_files.h"

namespace protocom {

/// What find_images() found.
struct FoundImages {
  std::vector<std::filesystem::path> paths;
  SkippedFiles skipped;  ///< files of folders that are not images by their names
  std::vector<UnreadableFile>
      unreadable;  ///< paths that are not there, folders without images or that cannot be listed
};

/// The image files of paths: files as they are, folders walked (files with an image's suffix whose names do
/// not begin with a dot), in a stable order. A path without images does not stop the others. Throws Error if
/// none has an image.
FoundImages find_images(const std::vector<std::string>& paths);

}  // namespace protocom
