#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "images/skipped_files.h"

namespace protocom {

/// The result of find_images().
struct FoundImages {
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> places = {};    ///< of each path that is a box: its row, "crops.csv:3"; empty: no boxes
  SkippedFiles skipped;                    ///< files of folders whose names are not those of images
  std::vector<UnreadableFile> unreadable;  ///< paths that do not exist, folders without images or that cannot be listed
};

/// Returns the image files of paths: files unchanged, folders walked (files with an image's suffix whose names do not
/// begin with a dot), in a stable order. A path without images does not stop the others. Throws Error if none has an
/// image.
FoundImages find_images(const std::vector<std::string>& paths);

}  // namespace protocom
