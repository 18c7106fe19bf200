#include "images/image_files.h"

#include <algorithm>

#include "base/error.h"
#include "images/folder_walk.h"
#include "images/image_region.h"
#include "images/other_media.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// Returns what a folder without images holds instead, after a colon; empty: nothing.
std::string found_instead(const fs::path& folder, const SkippedFiles& skipped) {
  std::string instead = other_media_in(folder);
  if (instead.empty()) instead = skipped.describe();
  return instead.empty() ? "" : ": " + instead;
}

void add_images_below(const fs::path& folder, FoundImages& found) {
  WalkedFolder walked = walk_folder(folder, fs::directory_options::skip_permission_denied);
  found.skipped.add(walked.skipped);
  if (walked.error) {
    found.unreadable.push_back(
        {folder, fmt::format("cannot list the folder {}: {}", folder.string(), walked.error.message())});
  } else if (walked.images.empty()) {
    found.unreadable.push_back({folder, fmt::format("{}: no image in this folder ({}){}", folder.string(),
                                                    image_kinds(), found_instead(folder, walked.skipped))});
  }
  std::sort(walked.images.begin(), walked.images.end());
  found.paths.insert(found.paths.end(), walked.images.begin(), walked.images.end());
}

}  // namespace

FoundImages find_images(const std::vector<std::string>& paths) {
  FoundImages found;
  for (const fs::path path : paths) {
    std::error_code ignored;
    const std::string other = other_media(path);
    if (!other.empty()) {
      found.unreadable.push_back({path, other});
    } else if (!fs::exists(region_of(path).file, ignored)) {
      found.unreadable.push_back({path, fmt::format("{}: no such file or folder", path.string())});
    } else if (fs::is_directory(path, ignored)) {
      add_images_below(path, found);
    } else {
      found.paths.push_back(path);
    }
  }
  if (found.paths.empty()) {
    std::vector<std::string> reasons;
    for (const UnreadableFile& file : found.unreadable) reasons.push_back(file.reason);
    fail("{}", fmt::join(reasons, "; "));
  }
  return found;
}

}  // namespace protocom
