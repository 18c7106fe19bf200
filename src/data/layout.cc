#include "layout.h"

#include <algorithm>
#include <set>

#include "protocom/core/error.h"

namespace protocom::layout {
namespace fs = std::filesystem;

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory() && entry.path().filename().string().front() != '.') folders.push_back(entry.path());
  }
  if (error) fail("cannot list the folder {}: {}", folder.string(), error.message());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<ImageItem> images_below(const fs::path& folder, const fs::path& root, SkippedFiles& skipped) {
  std::vector<ImageItem> items;
  // Ids by cutting the root off the text: lexically_relative would dominate the time on a million files.
  const std::string prefix = (root / "").generic_string();
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      if (it->path().filename().string().front() != '.') continue;
      it.disable_recursion_pending();
      skipped.add_hidden_folder(it->path());
    } else if (is_image_name(it->path()) && it->is_regular_file(ignored)) {
      items.push_back({it->path().generic_string().substr(prefix.size()), it->path(), 0});
    } else {
      skipped.add(it->path());
    }
  }
  if (error) fail("cannot list the folder {}: {}", folder.string(), error.message());
  std::sort(items.begin(), items.end(), [](const ImageItem& a, const ImageItem& b) { return a.id < b.id; });
  return items;
}

SkippedFiles files_beside_classes(const fs::path& root, const std::vector<RawClass>& classes) {
  std::set<fs::path> parents = {(root / "").parent_path()};
  for (const RawClass& listed : classes) parents.insert(listed.place.parent_path());
  SkippedFiles skipped;
  for (const fs::path& parent : parents) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(parent, error)) {
      std::error_code ignored;
      if (!entry.is_directory(ignored)) {
        if (is_image_name(entry.path())) ++skipped.counts["beside the class folders"];
      } else if (entry.path().filename().string().front() == '.') {
        skipped.add_hidden_folder(entry.path());
      }
    }
  }
  return skipped;
}

}  // namespace protocom::layout
