#include "layout.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "protocom/core/error.h"

namespace protocom::layout {
namespace fs = std::filesystem;

bool is_image_name(const fs::path& path) {
  static constexpr std::array<std::string_view, 5> kSuffixes = {".jpg", ".jpeg", ".png", ".webp", ".bmp"};
  const std::string name = path.filename().string();
  if (name.empty() || name.front() == '.') return false;
  std::string suffix = path.extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

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

std::vector<ImageItem> images_below(const fs::path& folder, const fs::path& root) {
  std::vector<ImageItem> items;
  // Ids by cutting the root off the text: lexically_relative would dominate the time on a million files.
  const std::string prefix = (root / "").generic_string();
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it->path().filename().string().front() == '.') {
      it.disable_recursion_pending();
    } else if (is_image_name(it->path()) && it->is_regular_file()) {
      items.push_back({it->path().generic_string().substr(prefix.size()), it->path(), 0});
    }
  }
  if (error) fail("cannot list the folder {}: {}", folder.string(), error.message());
  std::sort(items.begin(), items.end(), [](const ImageItem& a, const ImageItem& b) { return a.id < b.id; });
  return items;
}

}  // namespace protocom::layout
