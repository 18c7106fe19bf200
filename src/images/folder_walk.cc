#include "images/folder_walk.h"

#include <algorithm>
#include <set>
#include <utility>

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr const char* kAbove = "linking to a folder above";
constexpr const char* kCounted = "linking to a folder counted already";

fs::path real_path(const fs::path& folder) {
  std::error_code error;
  fs::path real = fs::canonical(folder, error);
  return error ? folder : real;
}

/// Whether `folder` is `place` or above it.
bool holds(const fs::path& folder, fs::path place) {
  std::error_code ignored;
  while (!fs::equivalent(folder, place, ignored)) {
    if (!place.has_relative_path()) return false;
    place = place.parent_path();
  }
  return true;
}

/// Walks folders in rounds: first the real folders, then those that links of the previous round lead to.
class FolderWalk {
 public:
  FolderWalk(size_t owners, fs::directory_options options) : found_(owners), options_(options) {}

  /// Enters a folder that has not been visited.
  void enter(size_t owner, const fs::path& folder) {
    if (is_first_visit(owner, folder)) round_.emplace_back(owner, folder);
  }

  /// Follows a link, unless it leads to a folder that contains it.
  void follow(size_t owner, const fs::path& link) {
    const fs::path place = link.parent_path();
    if (holds(link, place) || holds(link, real_path(place)))
      ++found_[owner].skipped.counts[kAbove];
    else
      enter(owner, link);
  }

  std::vector<WalkedFolder> finish() {
    while (!round_.empty()) {
      for (const auto& [owner, folder] : std::exchange(round_, {})) look_through(owner, folder);
      std::sort(links_.begin(), links_.end());
      for (const auto& [owner, link] : std::exchange(links_, {})) follow(owner, link);
    }
    return std::move(found_);
  }

 private:
  bool is_first_visit(size_t owner, const fs::path& folder) {
    const bool first = visited_.insert(real_path(folder)).second;
    if (!first) ++found_[owner].skipped.counts[kCounted];
    return first;
  }

  void look_through(size_t owner, const fs::path& folder) {
    std::error_code error;
    for (auto it = fs::recursive_directory_iterator(folder, options_, error);
         !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
      if (!take_entry(owner, *it)) it.disable_recursion_pending();
    }
    if (error) found_[owner].error = error;
  }

  /// Returns whether the entry is a folder that the walk enters.
  bool take_entry(size_t owner, const fs::directory_entry& entry) {
    std::error_code ignored;
    WalkedFolder& found = found_[owner];
    if (entry.is_directory(ignored)) return take_folder(owner, entry);
    if (is_image_name(entry.path()) && entry.is_regular_file(ignored))
      found.images.push_back(entry.path());
    else
      found.skipped.add(entry.path());
    return false;
  }

  bool take_folder(size_t owner, const fs::directory_entry& entry) {
    std::error_code ignored;
    if (is_left_out_folder(entry.path())) {
      found_[owner].skipped.add_left_out_folder(entry.path());
      return false;
    }
    if (!entry.is_symlink(ignored)) return is_first_visit(owner, entry.path());
    links_.emplace_back(owner, entry.path());
    return false;
  }

  std::vector<WalkedFolder> found_;
  fs::directory_options options_;
  std::set<fs::path> visited_;
  std::vector<std::pair<size_t, fs::path>> round_, links_;  // with their owners
};

}  // namespace

WalkedFolder walk_folder(const fs::path& folder, fs::directory_options options) {
  FolderWalk walk(1, options);
  walk.enter(0, folder);
  return std::move(walk.finish().front());
}

std::vector<WalkedFolder> walk_folders(const std::vector<fs::path>& folders) {
  FolderWalk walk(folders.size(), fs::directory_options::none);
  std::vector<size_t> links;
  for (size_t i = 0; i < folders.size(); ++i) {
    std::error_code ignored;
    if (fs::is_symlink(folders[i], ignored))
      links.push_back(i);
    else
      walk.enter(i, folders[i]);
  }
  for (const size_t i : links) walk.follow(i, folders[i]);
  return walk.finish();
}

void add_ends(std::string id, const fs::path& path, std::map<std::string, fs::path>& ends) {
  while (true) {
    const auto [place, is_new] = ends.emplace(id, path);
    if (!is_new && place->second != path) place->second.clear();
    const size_t slash = id.find('/');
    if (slash == std::string::npos) return;
    id.erase(0, slash + 1);
  }
}

}  // namespace protocom
