#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "protocom/data/image.h"

namespace protocom::cli {

/// The image files that the arguments name: files as they are, folders walked, in a stable order. Throws Error for a
/// path that is not there or a folder without images.
std::vector<std::filesystem::path> find_images(const std::vector<std::string>& arguments);

/// A file that could not be read and why.
struct Unreadable {
  std::filesystem::path path;
  std::string reason;
};

/// Images of one size.
struct LoadedImages {
  std::vector<std::filesystem::path> paths;  ///< of those that could be read
  std::vector<Image> images;                 ///< the same, size x size
  std::vector<Unreadable> unreadable;
};

/// Reads and preprocesses files; one that cannot be read does not stop the others.
LoadedImages load_readable(const std::vector<std::filesystem::path>& paths, int64_t size);

}  // namespace protocom::cli
