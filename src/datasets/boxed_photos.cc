#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

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

/// The boxes of each photo named in a file, which may have none.
using ByName = std::map<std::string, std::vector<const PhotoBox*>>;

ByName by_name(const BoxFile& file) {
  ByName names;
  for (const std::string& photo : file.photos) names[with_slashes(photo)];
  for (const PhotoBox& box : file.boxes) names[with_slashes(box.image)].push_back(&box);
  return names;
}

/// Returns the length of the common folder prefix of all names, including its slash.
size_t common_folder(const ByName& names) {
  // In sorted order, the first and the last name differ earliest.
  const std::string& first = names.begin()->first;
  const std::string& last = names.rbegin()->first;
  const auto ends = std::mismatch(first.begin(), first.end(), last.begin(), last.end());
  const size_t slash = first.substr(0, static_cast<size_t>(ends.first - first.begin())).rfind('/');
  return slash == std::string::npos ? 0 : slash + 1;
}

/// The names of a file assigned to the photos given.
struct Owners {
  std::unordered_map<std::string, std::vector<const PhotoBox*>> boxes;  ///< of each photo that the file names
  std::set<std::string> names;                                          ///< those assigned to a photo

  void give(const fs::path& photo, const ByName::value_type& named) {
    std::vector<const PhotoBox*>& all = boxes[photo.string()];
    all.insert(all.end(), named.second.begin(), named.second.end());
    names.insert(named.first);
  }
};

/// Finds the photo for a name by the end of the photo's path.
class PhotoEnds {
 public:
  explicit PhotoEnds(const std::vector<fs::path>& photos) {
    for (const fs::path& photo : photos) {
      const std::string whole = photo.lexically_normal().generic_string();
      add_ends(whole, photo);
      add_ends(whole.substr(0, whole.size() - photo.extension().string().size()), photo);
    }
  }

  /// Assigns names without their first `cut` characters. The longest name of a photo is its own: `sub/1.jpg` is not
  /// also the `1.jpg` of the folder above. A name that matches several photos is not assigned.
  [[nodiscard]] Owners owners(const ByName& names, size_t cut) const {
    std::vector<const ByName::value_type*> longest_first;
    for (const auto& named : names) longest_first.push_back(&named);
    std::stable_sort(longest_first.begin(), longest_first.end(),
                     [](const auto* a, const auto* b) { return a->first.size() > b->first.size(); });
    Owners owners;
    for (const auto* named : longest_first) {
      const fs::path* photo = only_one_left(named->first.substr(cut), owners);
      if (photo != nullptr) owners.give(*photo, *named);
    }
    return owners;
  }

 private:
  void add_ends(std::string end, const fs::path& photo) {
    for (;;) {
      ends_[end].push_back(&photo);
      const size_t slash = end.find('/');
      if (slash == std::string::npos) return;
      end.erase(0, slash + 1);
    }
  }

  /// Returns the photo without a longer name whose path has that end; null: there is none, or there are several.
  [[nodiscard]] const fs::path* only_one_left(const std::string& end, const Owners& owners) const {
    const auto found = ends_.find(end);
    if (found == ends_.end()) return nullptr;
    const fs::path* left = nullptr;
    for (const fs::path* photo : found->second) {
      if (owners.boxes.count(photo->string()) > 0) continue;
      if (left != nullptr && *left != *photo) return nullptr;
      left = photo;
    }
    return left;
  }

  std::unordered_map<std::string, std::vector<const fs::path*>> ends_;
};

/// Assigns the remaining names by the file's name alone if both sides have it once.
void give_by_loose_names(const ByName& names, const std::vector<fs::path>& photos, Owners& owners) {
  std::unordered_map<std::string, std::vector<const fs::path*>> theirs;
  for (const fs::path& photo : photos) theirs[loose_name(photo.string())].push_back(&photo);
  std::unordered_map<std::string, int64_t> times;
  for (const auto& entry : names) ++times[loose_name(entry.first)];
  for (const auto& named : names) {
    const std::string loose = loose_name(named.first);
    const auto found = theirs.find(loose);
    if (found == theirs.end() || found->second.size() != 1 || times[loose] != 1) continue;
    if (owners.names.count(named.first) == 0) owners.give(*found->second.front(), named);
  }
}

/// Reports boxes of photos that are not given. If the file names all given photos, it covers other photos too;
/// otherwise the photos may have moved.
void report_missing(const ByName& names, const Owners& owners, const fs::path& path, bool all_named) {
  std::vector<std::string> missing;
  size_t with_boxes = 0;
  for (const auto& [name, boxes] : names) {
    if (boxes.empty()) continue;
    ++with_boxes;
    if (owners.names.count(name) == 0) missing.push_back(name);
  }
  if (missing.empty()) return;
  const std::string counted = fmt::format("{}: {} of {} photos with boxes are not among those given", path.string(),
                                          missing.size(), with_boxes);
  const std::string shown = first_of(missing, kShown);
  if (all_named)
    logger().info("{}: {}", counted, shown);
  else
    logger().warn("{}, or several may be meant: {}", counted, shown);
}

/// Reports photos that the detector did not see, as opposed to photos without boxes.
void report_unnamed(const std::vector<std::string>& unnamed, size_t photos, const fs::path& path) {
  if (!unnamed.empty())
    logger().warn("{}: ignoring {} of {} photos, which it does not list: {}", path.string(), unnamed.size(), photos,
                  first_of(unnamed, kShown));
}

}  // namespace

std::vector<Crop> crop_photos(const std::vector<fs::path>& photos, const BoxFile& file, const fs::path& path) {
  const ByName names = by_name(file);
  const PhotoEnds ends(photos);
  Owners owners = ends.owners(names, 0);
  if (owners.names.empty()) owners = ends.owners(names, common_folder(names));
  give_by_loose_names(names, photos, owners);
  std::vector<Crop> crops;
  std::vector<std::string> unnamed;
  int64_t without = 0;
  for (const fs::path& photo : photos) {
    const auto found = owners.boxes.find(photo.string());
    if (found == owners.boxes.end()) {
      unnamed.push_back(photo.string());
      continue;
    }
    if (found->second.empty()) ++without;
    for (const PhotoBox* box : found->second)
      crops.push_back(
          {name_of({photo, box->box}), photo, box->kind, box->confidence, box->place, box->where, box->box});
  }
  if (crops.empty())
    fail("{} has no box for any of the {} images; it lists, for instance, {}", path.string(), photos.size(),
         file.boxes.front().image);
  report_missing(names, owners, path, unnamed.empty());
  if (file.photos.empty())
    without += static_cast<int64_t>(std::exchange(unnamed, {}).size());  // the file lists only photos with boxes
  report_unnamed(unnamed, photos.size(), path);
  if (without > 0)
    logger().info("{}: ignoring {} of {} photos, which have no box", path.string(), without, photos.size());
  return crops;
}

}  // namespace protocom
