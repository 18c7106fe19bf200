#include "datasets/class_folders.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <string>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/quiet.h"
#include "base/text.h"
#include "base/uuid.h"
#include "datasets/image_list.h"
#include "images/image_files.h"
#include "images/skipped_files.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

struct PartName {
  std::string_view word;
  FolderPart part;
  Split split;
};

constexpr PartName kPartNames[] = {
    {"base", FolderPart::kSplit, Split::kBase},      {"train", FolderPart::kSplit, Split::kBase},
    {"training", FolderPart::kSplit, Split::kBase},  {"val", FolderPart::kSplit, Split::kVal},
    {"valid", FolderPart::kSplit, Split::kVal},      {"validation", FolderPart::kSplit, Split::kVal},
    {"dev", FolderPart::kSplit, Split::kVal},        {"novel", FolderPart::kSplit, Split::kNovel},
    {"test", FolderPart::kSplit, Split::kNovel},     {"testing", FolderPart::kSplit, Split::kNovel},
    {"support", FolderPart::kImages, Split::kNovel}, {"query", FolderPart::kImages, Split::kNovel},
    {"gallery", FolderPart::kImages, Split::kNovel}, {"probe", FolderPart::kImages, Split::kNovel}};

const PartName* part_name(const fs::path& folder) {
  const std::string word = lowercase(folder.filename().string());
  const auto* found = std::find_if(std::begin(kPartNames), std::end(kPartNames),
                                   [&](const PartName& known) { return known.word == word; });
  return found == std::end(kPartNames) ? nullptr : found;
}

/// Returns the folders in a folder that contains no image itself.
std::vector<std::string> classes_within(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (is_image_name(it->path())) return {};
    if (it->is_directory(ignored) && !is_left_out_folder(it->path())) names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored) && !is_left_out_folder(it->path())) folders.push_back(it->path());
  }
  if (error) fail("cannot list the folder {}: {}", folder.string(), error.message());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::optional<FolderPart> part_named(const fs::path& folder) {
  const PartName* known = part_name(folder);
  return known == nullptr ? std::nullopt : std::optional(known->part);
}

std::optional<Split> split_named(const fs::path& folder) {
  const PartName* known = part_name(folder);
  return known == nullptr || known->part != FolderPart::kSplit ? std::nullopt : std::optional(known->split);
}

void refuse_parts(const fs::path& folder, const ListChoices& lists) {
  std::vector<std::string> parts;
  const std::vector<fs::path> folders = folders_in(folder);
  const auto is_part = [](const fs::path& file) { return part_named(file).has_value(); };
  const bool nothing_else = folders.size() > 1 && std::all_of(folders.begin(), folders.end(), is_part);
  for (const fs::path& file : folders) {
    const bool has_classes =
        nothing_else || (is_part(file) && (!classes_within(file).empty() || image_list_in(file, lists)));
    if (has_classes) parts.push_back(file.filename().string());
  }
  // A single one among others may be a class with that name.
  if (parts.empty() || (parts.size() == 1 && folders.size() > 1)) return;
  constexpr size_t kShown = 4;
  fail("the folders in {} are splits, not classes ({}): give one of them ({})", folder.string(),
       first_of(parts, kShown), (folder / parts.front()).string());
}

namespace {

/// Returns the class names of a split: its list's, else its folders'. Splits of photos with boxes have the folders
/// images and labels in common; their boxes have the classes.
std::set<std::string> class_names_within(const fs::path& split, const ListChoices& lists) {
  const Quiet quiet;
  std::set<std::string> names;
  if (const std::optional<fs::path> list = image_list_in(split, lists)) {
    for (const ListedImage& image : read_image_list(*list, lists)) names.insert(image.class_name);
    return names;
  }
  for (const std::string& name : classes_within(split)) names.insert(clean_name(name));
  return names;
}

/// Whether a split has classes, and another split has one of these or none at all (images without labels).
bool stands_for_all(const fs::path& split, const std::vector<fs::path>& splits, const ListChoices& lists) {
  const std::set<std::string> own = class_names_within(split, lists);
  return !own.empty() && std::any_of(splits.begin(), splits.end(), [&](const fs::path& other) {
    if (other == split) return false;
    const std::set<std::string> theirs = class_names_within(other, lists);
    const auto is_own = [&](const std::string& name) { return own.count(name) > 0; };
    return theirs.empty() || std::any_of(theirs.begin(), theirs.end(), is_own);
  });
}

/// Returns "test (40 images)" of all splits except one.
std::string others_of(const std::vector<fs::path>& splits, const fs::path& used) {
  std::vector<std::string> words;
  for (const fs::path& split : splits) {
    if (split != used)
      words.push_back(
          fmt::format("{} ({} images)", split.filename().string(), find_images({split.string()}).paths.size()));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

fs::path split_for(SplitPurpose purpose, const fs::path& folder, const ListChoices& lists) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored) || !lists.classes_from.empty()) return folder;
  const std::vector<fs::path> splits = folders_in(folder);
  const auto is_split = [](const fs::path& each) { return split_named(each).has_value(); };
  if (splits.size() < 2 || !std::all_of(splits.begin(), splits.end(), is_split) || image_list_in(folder, lists))
    return folder;
  const std::vector<Split> wanted = purpose == SplitPurpose::kTraining ? std::vector<Split>{Split::kBase}
                                                                       : std::vector<Split>{Split::kNovel, Split::kVal};
  for (const Split kind : wanted) {
    const auto found =
        std::find_if(splits.begin(), splits.end(), [&](const fs::path& each) { return split_named(each) == kind; });
    if (found == splits.end() || !stands_for_all(*found, splits, lists)) continue;
    logger().info("{}: using {}, leaving out {}{}", folder.string(), found->filename().string(),
                  others_of(splits, *found),
                  purpose == SplitPurpose::kTraining ? "; protocom test measures on a split that is left out" : "");
    return *found;
  }
  return folder;
}

namespace {

bool has_name_of_library(const fs::path& folder) {
  const std::string suffix = lowercase(folder.extension().string());
  return suffix == ".photoslibrary" || suffix == ".photolibrary";
}

/// Whether a folder's name is a hexadecimal digit, and all files in it have identifiers as names, which start with it.
bool holds_identifiers(const fs::path& folder) {
  constexpr size_t kLetters = 36;  // of an identifier
  const std::string digit = folder.filename().string();
  if (digit.size() != 1 || std::isxdigit(static_cast<unsigned char>(digit.front())) == 0) return false;
  std::error_code error;
  int64_t found = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.front() == '.') continue;
    const bool ends = name.size() > kLetters && (name[kLetters] == '.' || name[kLetters] == '_');  // "_3.mov": its film
    if (!ends || name.front() != digit.front() || !is_uuid(name.substr(0, kLetters))) return false;
    ++found;
  }
  return found > 0;
}

/// Whether a folder is a library's `originals`: "0" to "F".
bool is_originals(const fs::path& folder) {
  bool any = false;
  std::error_code error, ignored;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_directory(ignored) || is_left_out_folder(it->path())) continue;
    if (!holds_identifiers(it->path())) return false;
    any = true;
  }
  return any;
}

/// Returns the library in which a folder lies; empty: none.
fs::path library_above(const fs::path& folder) {
  fs::path above = fs::absolute(folder / "").lexically_normal().parent_path();
  while (!has_name_of_library(above) && above != above.parent_path()) above = above.parent_path();
  return has_name_of_library(above) ? above : fs::path();
}

/// Returns the library that a folder is, lies in or contains, except in left-out folders; empty: none.
fs::path library_around(const fs::path& folder) {
  if (fs::path above = library_above(folder); !above.empty()) return above;
  if (is_originals(folder) || is_originals(folder / "originals")) return folder;
  const std::vector<fs::path> folders = folders_in(folder);
  const auto found = std::find_if(folders.begin(), folders.end(), [](const fs::path& each) {
    return is_originals(each) || is_originals(each / "originals");
  });
  return found == folders.end() ? fs::path() : *found;
}

}  // namespace

void refuse_photo_library(const fs::path& folder) {
  const fs::path library = library_around(folder);
  if (!library.empty())
    fail(
        "{}: the folders in a library of Apple's Photos are no classes: export the photos of each class into a folder "
        "of its own (File, Export)",
        library.string());
}

bool is_sequence_folder(const fs::path& folder) {
  static const std::regex kName(
      "(burst|clip|encounter|event|moment|scene|seq|sequence|series|track|video|visit)[ _.-]*[0-9]+",
      std::regex::icase);
  return std::regex_match(folder.filename().string(), kName);
}

namespace {

void warn_of_nested_classes(const std::vector<fs::path>& class_folders) {
  constexpr size_t kNestedShown = 3;
  std::vector<std::string> nested;
  for (const fs::path& folder : class_folders) {
    std::vector<std::string> within = classes_within(folder);
    within.erase(std::remove_if(within.begin(), within.end(), is_sequence_folder), within.end());
    if (within.size() > 1)
      nested.push_back(fmt::format("{} ({})", folder.filename().string(), first_of(within, kNestedShown)));
  }
  if (nested.empty()) return;
  logger().warn(
      "folders that hold only folders are each read as one class, {} of {}: {}; if the inner folders are the classes, "
      "give the folder that holds them",
      nested.size(), class_folders.size(), first_of(nested, kNestedShown));
}

/// Whether a folder has the name under which detection data sets keep all photos, and photos in it.
bool is_folder_of_photos(const fs::path& folder) {
  const std::string name = lowercase(folder.filename().string());
  std::error_code error;
  const fs::directory_iterator files(folder, error);
  return (name == "images" || name == "jpegimages") && !error &&
         std::any_of(begin(files), fs::directory_iterator(),
                     [](const auto& file) { return is_image_name(file.path()); });
}

}  // namespace

void warn_of_doubtful_classes(const std::vector<fs::path>& class_folders) {
  warn_of_nested_classes(class_folders);
  for (const fs::path& folder : class_folders) {
    if (is_folder_of_photos(folder))
      logger().warn(
          "{0}: all its photos are one class, '{1}': there are no boxes (labels/*.txt, Annotations/*.xml, "
          "annotations/*.json) and no list image,class beside it. Put the photos of each class into a folder of its "
          "own, or add boxes or a list",
          folder.string(), folder.filename().string());
  }
}

}  // namespace protocom
