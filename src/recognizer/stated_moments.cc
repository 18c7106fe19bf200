#include "recognizer/stated_moments.h"

#include <algorithm>
#include <optional>

#include "base/enum_words.h"
#include "base/error.h"
#include "base/log.h"
#include "datasets/class_folders.h"
#include "datasets/image_list.h"
#include "datasets/table_column.h"
#include "images/image_files.h"
#include "images/image_region.h"
#include "io/files.h"
#include "recognizer/enrol_requests.h"
#include "recognizer/series.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

std::string hash_of_photo(const fs::path& photo) {
  const ImageRegion region = region_of(photo);
  return region_hash(hash_file(region.file), region);
}

/// Returns the column or folders that state the moments of the photos; nothing: they are found by similarity, or off.
std::optional<SeriesRule> rule_of_moments(const RecognizerParts& parts) {
  const std::string& word = parts.moments.by;
  if (word == "auto" || word == "off") return std::nullopt;
  if (parts.images.empty()) fail_usage("--moments {} needs the photos that it is about: give --images", word);
  if (const auto column = table_column_in(word)) return column;
  if (is_list_file(parts.images)) return SeriesRule{SeriesBy::kColumn, parts.images, word};
  if (const auto table = image_list_in(parts.images, parts.lists)) return SeriesRule{SeriesBy::kColumn, *table, word};
  if (word == "folder") return SeriesRule{SeriesBy::kFolder};
  fail_unknown_word("--moments", word,
                    {"auto", "off", "folder", "TABLE.csv:COLUMN", "a column of the table of images in --images"});
}

/// Returns the moments stated by that column, the same for all boxes of a photo. Logs photos that it does not contain.
std::map<std::string, int64_t> moments_in(const SeriesRule& column, const std::vector<EnrolRequest>& classes) {
  std::map<std::string, int64_t> stated, number;
  const std::vector<fs::path> photos = find_files(classes).paths;
  std::vector<fs::path> files;
  for (const fs::path& photo : photos) files.push_back(region_of(photo).file);
  const std::vector<std::string> texts = cells_of_photos(column.table, column.column, files);
  int64_t silent = 0;
  for (size_t i = 0; i < photos.size(); ++i) {
    if (texts[i].empty()) {
      ++silent;
      continue;
    }
    const int64_t moment = number.emplace(texts[i], static_cast<int64_t>(number.size())).first->second;
    stated.emplace(hash_of_photo(photos[i]), moment);
  }
  if (stated.empty())
    fail("{}: expected the moments of {} photos in the column '{}', found none", column.table.string(), photos.size(),
         column.column);
  if (silent > 0)
    logger().warn("{}: {} of {} photos have no '{}': their moments are found by similarity", column.table.string(),
                  silent, photos.size(), column.column);
  return stated;
}

/// Returns the photos in subfolders of the classes' folders, by subfolder. `takes` selects the subfolders.
template <typename Takes>
std::map<fs::path, std::vector<fs::path>> photos_in_subfolders(const std::vector<EnrolRequest>& classes,
                                                               const Takes& takes) {
  std::map<fs::path, std::vector<fs::path>> photos;
  for (const EnrolRequest& one : classes) {
    const fs::path whole = one.images.size() == 1 ? fs::path(one.images.front()) : fs::path();
    if (!fs::is_directory(whole) || folders_in(whole).empty()) continue;
    for (const fs::path& photo : find_files({one}).paths) {
      const fs::path folder = photo.parent_path();
      if (folder != whole && takes(folder)) photos[folder].push_back(photo);
    }
  }
  return photos;
}

std::map<std::string, int64_t> one_moment_each(const std::map<fs::path, std::vector<fs::path>>& folders) {
  std::map<std::string, int64_t> stated;
  int64_t moment = 0;
  for (const auto& [folder, photos] : folders) {
    for (const fs::path& photo : photos) stated.emplace(hash_of_photo(photo), moment);
    ++moment;
  }
  return stated;
}

/// Returns the moments of all photos in subfolders of the classes.
std::map<std::string, int64_t> moments_by_folder(const fs::path& images, const std::vector<EnrolRequest>& classes) {
  const auto folders = photos_in_subfolders(classes, [](const fs::path&) { return true; });
  if (folders.empty())
    fail("{}: --moments folder: expected a subfolder of each class for each moment, such as CLASS/visit1, found none",
         images.string());
  return one_moment_each(folders);
}

/// Returns the moments of photos in folders of sequences, if there are at least two of several photos.
std::map<std::string, int64_t> moments_of_sequences(const std::vector<EnrolRequest>& classes) {
  const auto folders = photos_in_subfolders(classes, is_sequence_folder);
  const auto several =
      std::count_if(folders.begin(), folders.end(), [](const auto& one) { return one.second.size() > 1; });
  if (several < 2) return {};
  logger().info(
      "each folder of a sequence counts as one moment, {} in all, such as {} (--moments off: each photo counts)",
      folders.size(), folders.begin()->first.string());
  return one_moment_each(folders);
}

}  // namespace

std::map<std::string, int64_t> find_stated_moments(const RecognizerParts& parts,
                                                   const std::vector<EnrolRequest>& classes) {
  if (parts.moments.by == "auto") return moments_of_sequences(classes);
  const std::optional<SeriesRule> rule = rule_of_moments(parts);
  if (!rule) return {};
  return rule->by == SeriesBy::kFolder ? moments_by_folder(parts.images, classes) : moments_in(*rule, classes);
}

}  // namespace protocom
