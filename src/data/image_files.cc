#include "protocom/data/image_files.h"

#include <algorithm>

#include "protocom/core/error.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

void add_images_below(const fs::path& folder, FoundImages& found) {
  std::vector<fs::path> images;
  std::error_code error;
  const auto options = fs::directory_options::follow_directory_symlink | fs::directory_options::skip_permission_denied;
  for (auto it = fs::recursive_directory_iterator(folder, options, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      if (it->path().filename().string().front() != '.') continue;
      it.disable_recursion_pending();
      found.skipped.add_hidden_folder(it->path());
    } else if (it->is_regular_file(ignored) && is_image_name(it->path())) {
      images.push_back(it->path());
    } else {
      found.skipped.add(it->path());
    }
  }
  if (error) found.unreadable.push_back({folder, fmt::format("cannot list {}: {}", folder.string(), error.message())});
  if (!error && images.empty())
    found.unreadable.push_back({folder, fmt::format("{}: no image in this folder ({})", folder.string(), kImageKinds)});
  std::sort(images.begin(), images.end());
  found.paths.insert(found.paths.end(), images.begin(), images.end());
}

}  // namespace

FoundImages find_images(const std::vector<std::string>& paths) {
  FoundImages found;
  for (const fs::path path : paths) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
      found.unreadable.push_back({path, fmt::format("{}: no such file or folder", path.string())});
    } else if (fs::is_directory(path, ignored)) {
      add_images_below(path, found);
    } else {
      found.paths.push_back(path);
    }
  }
  if (found.paths.empty()) {
    std::vector<std::string> reasons;
    for (const UnreadableFile& one : found.unreadable) reasons.push_back(one.reason);
    fail("no image is given: {}", fmt::join(reasons, "; "));
  }
  return found;
}

}  // namespace protocom
