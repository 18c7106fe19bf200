#include "datasets/detail/layout.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "images/folder_walk.h"

namespace protocom::layout {
namespace fs = std::filesystem;
namespace {

/// Whether a class is named by a list: its images are where the list states.
bool is_file(const fs::path& place) {
  std::error_code ignored;
  return fs::is_regular_file(place, ignored);
}

/// Whether protocom reads a file in folders of images, in one layout or another, or as file of the requested split.
bool is_own_list(const fs::path& file, const std::vector<fs::path>& split_files) {
  for (const char* own :
       {"split.csv", "base.txt", "val.txt", "novel.txt", "attributes.csv", "wnids.txt", "words.txt", "train.csv",
        "val.csv", "test.csv", "classes.txt", "images.txt", "image_class_labels.txt", "attributes.txt"}) {
    if (file.filename() == own) return true;
  }
  std::error_code ignored;
  return std::any_of(split_files.begin(), split_files.end(),
                     [&](const fs::path& own) { return fs::equivalent(own, file, ignored); });
}

/// Returns the images that were found below `folder`, sorted by id.
std::vector<ImageItem> sorted_items(const WalkedFolder& walked, const fs::path& folder, const fs::path& root) {
  if (walked.error) fail("cannot list the folder {}: {}", folder.string(), walked.error.message());
  // Cuts the root off the text: lexically_relative would dominate the time for a million files.
  const std::string prefix = (root / "").generic_string();
  std::vector<ImageItem> items;
  for (const fs::path& path : walked.images) items.push_back({path.generic_string().substr(prefix.size()), path, 0});
  std::sort(items.begin(), items.end(), [](const ImageItem& a, const ImageItem& b) { return a.id < b.id; });
  return items;
}

}  // namespace

std::vector<ImageItem> images_below(const fs::path& folder, const fs::path& root) {
  return sorted_items(walk_folder(folder, fs::directory_options::none), folder, root);
}

void add_images(std::vector<RawClass>& classes, const fs::path& root) {
  std::vector<fs::path> folders;
  std::vector<RawClass*> owners;
  for (RawClass& listed : classes) {
    if (is_file(listed.place)) continue;
    folders.push_back(listed.place);
    owners.push_back(&listed);
  }
  std::vector<WalkedFolder> walked = walk_folders(folders);
  for (size_t c = 0; c < owners.size(); ++c) {
    owners[c]->items = sorted_items(walked[c], folders[c], root);
    owners[c]->skipped = std::move(walked[c].skipped);
  }
}

SkippedFiles files_beside_classes(const fs::path& root, const std::vector<RawClass>& classes,
                                  const std::vector<fs::path>& split_files) {
  std::set<fs::path> parents = {(root / "").parent_path()};
  for (const RawClass& listed : classes) {
    if (!is_file(listed.place)) parents.insert(listed.place.parent_path());
  }
  SkippedFiles skipped;
  for (const fs::path& parent : parents) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(parent, error)) {
      std::error_code ignored;
      if (!entry.is_directory(ignored)) {
        if (!is_own_list(entry.path(), split_files)) skipped.add_beside_classes(entry.path());
      } else if (is_left_out_folder(entry.path())) {
        skipped.add_left_out_folder(entry.path());
      }
    }
  }
  return skipped;
}

}  // namespace protocom::layout
