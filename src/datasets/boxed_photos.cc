#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/boxes.h"
#include "datasets/image_list.h"
#include "images/folder_walk.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr size_t kShown = 5;

std::string with_slashes(std::string written) {
  std::replace(written.begin(), written.end(), '\\', '/');
  size_t begin = 0;
  while (written.compare(begin, 2, "./") == 0) begin += 2;
  return written.substr(begin);
}

/// The boxes of each name of a file.
using ByName = std::map<std::string, std::vector<const PhotoBox*>>;

ByName by_name(const BoxFile& file) {
  ByName names;
  for (const PhotoBox& box : file.boxes) names[with_slashes(box.image)].push_back(&box);
  return names;
}

/// How long the folder is that all names begin with, its slash counted.
size_t common_folder(const ByName& names) {
  // The first and the last in their order differ earliest.
  const std::string& first = names.begin()->first;
  const std::string& last = names.rbegin()->first;
  const auto ends = std::mismatch(first.begin(), first.end(), last.begin(), last.end());
  const size_t slash = first.substr(0, static_cast<size_t>(ends.first - first.begin())).rfind('/');
  return slash == std::string::npos ? 0 : slash + 1;
}

using ByPhoto = std::unordered_map<std::string, std::vector<const PhotoBox*>>;

void give(const fs::path& photo, const std::vector<const PhotoBox*>& boxes, ByPhoto& owned) {
  std::vector<const PhotoBox*>& all = owned[photo.string()];
  all.insert(all.end(), boxes.begin(), boxes.end());
}

/// The photo of each name, by the end of its path.
class PhotoEnds {
 public:
  explicit PhotoEnds(const std::vector<fs::path>& photos) {
    for (const fs::path& photo : photos) {
      const std::string whole = photo.lexically_normal().generic_string();
      add_ends(whole, photo, ends_);
      add_ends(whole.substr(0, whole.size() - photo.extension().string().size()), photo, ends_);
    }
  }

  /// Of names without their first `cut` letters.
  [[nodiscard]] ByPhoto owned(const ByName& names, size_t cut) const {
    ByPhoto boxes;
    for (const auto& [name, some] : names) {
      const auto found = ends_.find(name.substr(cut));
      if (found != ends_.end() && !found->second.empty()) give(found->second, some, boxes);
    }
    return boxes;
  }

 private:
  std::map<std::string, fs::path> ends_;
};

/// Those that are left, by the file's name alone where both sides have it once.
void give_by_loose_names(const ByName& names, const std::vector<fs::path>& photos, ByPhoto& owned) {
  std::set<const PhotoBox*> taken;
  for (const auto& entry : owned) taken.insert(entry.second.begin(), entry.second.end());
  std::unordered_map<std::string, std::vector<const fs::path*>> theirs;
  for (const fs::path& photo : photos) theirs[loose_name(photo.string())].push_back(&photo);
  std::unordered_map<std::string, int64_t> times;
  for (const auto& entry : names) ++times[loose_name(entry.first)];
  for (const auto& [name, boxes] : names) {
    const std::string loose = loose_name(name);
    const auto found = theirs.find(loose);
    if (found == theirs.end() || found->second.size() != 1 || times[loose] != 1) continue;
    if (taken.count(boxes.front()) == 0) give(*found->second.front(), boxes, owned);
  }
}

/// Boxes of photos that are not among those given.
void report_missing(const ByName& names, const ByPhoto& owned, const fs::path& path) {
  std::set<const PhotoBox*> taken;
  for (const auto& entry : owned) taken.insert(entry.second.begin(), entry.second.end());
  std::vector<std::string> missing;
  for (const auto& [name, boxes] : names) {
    if (taken.count(boxes.front()) == 0) missing.push_back(name);
  }
  if (!missing.empty())
    logger().warn("{}: {} of {} photos with boxes are not among those given, or several may be meant: {}",
                  path.string(), missing.size(), names.size(), first_of(missing, kShown));
}

}  // namespace

std::vector<Crop> crop_photos(const std::vector<fs::path>& photos, const BoxFile& file, const fs::path& path) {
  const ByName names = by_name(file);
  const PhotoEnds ends(photos);
  auto owned = ends.owned(names, 0);
  if (owned.empty()) owned = ends.owned(names, common_folder(names));
  give_by_loose_names(names, photos, owned);
  if (owned.empty())
    fail("{} has no box for any of the {} images; it lists, for instance, {}", path.string(), photos.size(),
         names.begin()->first);
  report_missing(names, owned, path);
  std::vector<Crop> crops;
  int64_t without = 0;
  for (const fs::path& photo : photos) {
    const auto found = owned.find(photo.string());
    if (found == owned.end()) {
      ++without;
      continue;
    }
    for (const PhotoBox* box : found->second)
      crops.push_back({name_of({photo, box->box}), photo, box->kind, box->confidence, box->place});
  }
  if (without > 0)
    logger().warn("{}: ignoring {} of {} photos, which have no box", path.string(), without, photos.size());
  return crops;
}

}  // namespace protocom
