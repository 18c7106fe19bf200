#include <algorithm>
#include <map>
#include <set>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "datasets/box_layouts.h"
#include "datasets/detail/layout.h"
#include "datasets/image_list.h"
#include "datasets/takeout.h"
#include "io/files.h"

namespace protocom::layout {
namespace fs = std::filesystem;
namespace {

std::string class_name(const fs::path& folder) { return clean_name(folder.filename().string()); }

RawClass class_folder(const fs::path& folder) { return {class_name(folder), "", std::nullopt, folder, {}}; }

std::vector<RawClass> class_folders_in(const fs::path& parent, const Request& request) {
  std::vector<RawClass> classes;
  std::map<std::string, fs::path> seen;
  std::vector<fs::path> folders = takeout_albums(parent);
  if (folders.empty()) folders = folders_in(parent);
  for (const fs::path& folder : folders) {
    const auto [first, is_new] = seen.emplace(class_name(folder), folder);
    if (!is_new)
      fail(
          "{} has two folders of the class '{}' whose names are the same text in other bytes (Unicode forms, spaces): "
          "move their images into one",
          parent.string(), first->first);
    if (request.includes(first->first)) classes.push_back(class_folder(folder));
  }
  return classes;
}

/// Whether there are folders base, val, novel (or train, test, ...) and no others, at least two, each with class
/// folders or a list of its images; next to a split with a list, other splits may contain images without a class.
bool is_divided(const std::vector<fs::path>& folders, const ListChoices& lists) {
  const auto is_split = [](const fs::path& folder) { return split_named(folder).has_value(); };
  const auto has_folders = [](const fs::path& folder) { return !folders_in(folder).empty(); };
  const auto has_list = [&](const fs::path& folder) { return image_list_in(folder, lists).has_value(); };
  return folders.size() >= 2 && std::all_of(folders.begin(), folders.end(), is_split) &&
         (std::all_of(folders.begin(), folders.end(), has_folders) ||
          std::any_of(folders.begin(), folders.end(), has_list));
}

/// Returns the classes of a split's folder: its list's, else its folders'.
std::vector<RawClass> classes_of_split(const fs::path& folder, const Request& request) {
  if (const std::optional<fs::path> list = image_list_in(folder, request.lists)) return classes_of_list(*list, request);
  if (!boxes_beside(folder).empty())
    fail("the folders in {} are splits with the same classes: give one of them ({})", folder.parent_path().string(),
         folder.string());
  std::vector<RawClass> classes = class_folders_in(folder, request);
  if (!classes.empty() || !folders_in(folder).empty()) return classes;
  logger().warn("{}: ignoring images without a class: {}", folder.string(), images_below(folder, request.root).size());
  return classes;
}

/// Returns the classes of the folder itself; its folders must not be parts of something else.
std::vector<RawClass> list_undivided(const Request& request) {
  refuse_photo_library(request.root);
  refuse_parts(request.root, request.lists);
  std::vector<RawClass> classes = class_folders_in(request.root, request);
  std::vector<fs::path> places;
  for (const RawClass& listed : classes) places.push_back(listed.place);
  warn_of_doubtful_classes(places);
  return classes;
}

std::vector<RawClass> list_divided(const std::vector<fs::path>& split_folders, const Request& request) {
  std::vector<RawClass> classes;
  std::map<std::string, fs::path> seen;
  for (const fs::path& split_folder : split_folders) {
    for (RawClass& listed : classes_of_split(split_folder, request)) {
      const auto [first, is_new] = seen.emplace(listed.name, listed.place);
      if (!is_new) {
        fail(
            "the class '{}' is in two splits, {} and {}, expected one; if both have images of the same classes, give "
            "one of the two ({} or {})",
            listed.name, first->second.string(), listed.place.string(), first->second.parent_path().string(),
            split_folder.string());
      }
      listed.split = split_named(split_folder);
      classes.push_back(std::move(listed));
    }
  }
  return classes;
}

bool is_wnid(const std::string& name) {
  return name.size() == 9 && name[0] == 'n' &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool has_wnid_folder(const fs::path& folder) {
  if (!fs::is_directory(folder)) return false;
  const auto folders = folders_in(folder);
  return std::any_of(folders.begin(), folders.end(), [](const fs::path& f) { return is_wnid(f.filename().string()); });
}

std::map<std::string, std::string> read_words(const fs::path& path) {
  std::map<std::string, std::string> words;
  if (!fs::exists(path)) return words;
  for_each_line(path, [&](int64_t, std::string_view line) {
    const size_t tab = line.find('\t');
    if (tab != std::string_view::npos) words.emplace(line.substr(0, tab), line.substr(tab + 1));
    return true;
  });
  return words;
}

}  // namespace

bool has_disjoint_splits(const fs::path& root, const ListChoices& lists) {
  const auto split_folders = folders_in(root);
  if (!is_divided(split_folders, lists)) return false;
  std::set<std::string> seen;
  for (const fs::path& split_folder : split_folders) {
    if (image_list_in(split_folder, lists)) return false;
    for (const fs::path& folder : folders_in(split_folder)) {
      if (!seen.insert(folder.filename().string()).second) return false;
    }
  }
  return true;
}

fs::path wnid_folder(const fs::path& root) {
  for (const fs::path& folder : {root / "train", root}) {
    if (has_wnid_folder(folder)) return folder;
  }
  return {};
}

std::vector<fs::path> class_parents(const Request& request) {
  std::vector<fs::path> folders = folders_in(request.root);
  if (!is_divided(folders, request.lists)) return {request.root};
  const auto has_list = [&](const fs::path& folder) { return image_list_in(folder, request.lists).has_value(); };
  folders.erase(std::remove_if(folders.begin(), folders.end(), has_list), folders.end());
  return folders;
}

std::vector<RawClass> list_folder(const Request& request) {
  const auto folders = folders_in(request.root);
  if (folders.empty())
    fail("{} has no class folders; expected one folder of images for each class", request.root.string());
  std::vector<RawClass> classes =
      is_divided(folders, request.lists) ? list_divided(folders, request) : list_undivided(request);
  add_images(classes, request.root);
  return classes;
}

std::vector<RawClass> list_ilsvrc(const Request& request) {
  const fs::path parent = wnid_folder(request.root);
  if (parent.empty()) fail("neither {0} nor {0}/train has class folders named like n01440764", request.root.string());
  std::vector<RawClass> classes = class_folders_in(parent, request);
  classes.erase(
      std::remove_if(classes.begin(), classes.end(), [](const RawClass& listed) { return !is_wnid(listed.name); }),
      classes.end());
  add_images(classes, request.root);
  return classes;
}

std::vector<RawClass> list_tiny_imagenet(const Request& request) {
  const fs::path list = request.root / "wnids.txt";
  const auto words = read_words(request.root / "words.txt");
  std::vector<RawClass> classes;
  for_each_line(list, [&](int64_t number, std::string_view line) {
    const std::string wnid(line);
    if (wnid.empty() || !request.includes(wnid)) return true;
    const fs::path folder = request.root / "train" / wnid;
    if (!fs::is_directory(folder)) fail("{}:{}: no such folder: {}", list.string(), number, folder.string());
    classes.push_back(class_folder(folder));
    const auto title = words.find(wnid);
    if (title != words.end()) classes.back().title = title->second;
    return true;
  });
  add_images(classes, request.root);
  return classes;
}

}  // namespace protocom::layout
