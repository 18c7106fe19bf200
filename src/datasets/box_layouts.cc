#include "datasets/box_layouts.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "io/files.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

bool has_file_below(const fs::path& folder, std::string_view suffix) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (lowercase(it->path().extension().string()) == suffix) return true;
  }
  return false;
}

/// Returns the lists with boxes: COCO's annotations/ also has captions, key points and plain lists of images.
std::vector<fs::path> lists_of_objects(const fs::path& folder) {
  std::vector<fs::path> lists;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = lowercase(it->path().filename().string());
    const auto begins = [&](const char* word) { return name.rfind(word, 0) == 0; };
    const bool other = begins("captions") || begins("person_keypoints") || begins("panoptic") || begins("stuff") ||
                       begins("image_info");
    if (lowercase(it->path().extension().string()) == ".json" && !other) lists.push_back(it->path());
  }
  std::sort(lists.begin(), lists.end());
  return lists;
}

}  // namespace

fs::path boxes_beside(const fs::path& folder) {
  const bool images = is_folder(folder / "images"), voc = images || is_folder(folder / "JPEGImages");
  if (images && has_file_below(folder / "labels", ".txt")) return folder;
  for (const char* name : {"Annotations", "annotations"}) {
    if (voc && has_file_below(folder / name, ".xml")) return folder;
  }
  const std::vector<fs::path> lists = lists_of_objects(folder / "annotations");
  if (lists.size() > 1)
    fail("{} has several lists of objects, {}, ...: give one of them with --boxes (boxes=)", folder.string(),
         lists.front().string());
  return lists.empty() ? fs::path() : lists.front();
}

}  // namespace protocom
