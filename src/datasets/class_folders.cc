#include "datasets/class_folders.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/image_list.h"
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

/// The folders in it, where it holds no image itself.
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
  for (const fs::path& file : folders) {
    if (part_named(file) && (!classes_within(file).empty() || image_list_in(file, lists)))
      parts.push_back(file.filename().string());
  }
  // One alone among others may be a class that is called so.
  if (parts.empty() || (parts.size() == 1 && folders.size() > 1)) return;
  constexpr size_t kShown = 4;
  fail("the folders in {} are splits, not classes ({}): give one of them ({})", folder.string(),
       first_of(parts, kShown), (folder / parts.front()).string());
}

void warn_of_nested_classes(const std::vector<fs::path>& class_folders) {
  constexpr size_t kShown = 3;
  std::vector<std::string> nested;
  for (const fs::path& folder : class_folders) {
    const std::vector<std::string> within = classes_within(folder);
    if (within.size() > 1)
      nested.push_back(fmt::format("{} ({})", folder.filename().string(), first_of(within, kShown)));
  }
  if (nested.empty()) return;
  logger().warn(
      "folders that hold only folders are each read as one class, {} of {}: {}; if the inner folders are the classes, "
      "give the folder that holds them",
      nested.size(), class_folders.size(), first_of(nested, kShown));
}

}  // namespace protocom
