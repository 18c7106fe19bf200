#include "images_from.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "protocom/core/error.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

bool has_image_suffix(const fs::path& path) {
  static const std::set<std::string> kSuffixes = {".jpg", ".jpeg", ".png", ".webp", ".bmp"};
  std::string suffix = path.extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](unsigned char c) { return std::tolower(c); });
  return kSuffixes.count(suffix) > 0 && path.filename().string().front() != '.';
}

std::vector<fs::path> images_below(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && has_image_suffix(entry.path())) found.push_back(entry.path());
  }
  if (found.empty()) fail("{}: no image in this folder (JPEG, PNG, WebP or BMP)", folder.string());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<fs::path> find_images(const std::vector<std::string>& arguments) {
  std::vector<fs::path> found;
  for (const fs::path path : arguments) {
    if (!fs::exists(path)) fail("{}: no such file or folder", path.string());
    if (!fs::is_directory(path)) {
      found.push_back(path);
      continue;
    }
    for (fs::path& image : images_below(path)) found.push_back(std::move(image));
  }
  return found;
}

LoadedImages load_readable(const std::vector<fs::path>& paths, int64_t size) {
  LoadedImages loaded;
  for (const fs::path& path : paths) {
    try {
      loaded.images.push_back(read_square_image(path, size));
      loaded.paths.push_back(path);
    } catch (const Error& error) {
      loaded.unreadable.push_back({path, error.what()});
    }
  }
  return loaded;
}

}  // namespace protocom::cli
