#include "protocom/data/image_files.h"

#include <algorithm>

#include "data/layout.h"
#include "protocom/core/error.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> images_below(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && layout::is_image_name(entry.path())) found.push_back(entry.path());
  }
  if (found.empty()) fail("{}: no image in this folder (JPEG, PNG, WebP or BMP)", folder.string());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<fs::path> find_images(const std::vector<std::string>& paths) {
  std::vector<fs::path> found;
  for (const fs::path path : paths) {
    if (!fs::exists(path)) fail("{}: no such file or folder", path.string());
    if (!fs::is_directory(path)) {
      found.push_back(path);
      continue;
    }
    for (fs::path& image : images_below(path)) found.push_back(std::move(image));
  }
  return found;
}

}  // namespace protocom
