#include "recognizer/stated_moments.h"

#include <optional>

#include "base/enum_words.h"
#include "base/error.h"
#include "base/log.h"
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

/// Returns the column that states the moments of the photos; nothing: they are found by similarity, or off.
std::optional<SeriesRule> column_of_moments(const RecognizerParts& parts) {
  const std::string& word = parts.moments.by;
  if (word == "auto" || word == "off") return std::nullopt;
  if (parts.images.empty()) fail_usage("--moments {} needs the photos that it is about: give --images", word);
  if (const auto column = table_column_in(word)) return column;
  if (is_list_file(parts.images)) return SeriesRule{SeriesBy::kColumn, parts.images, word};
  if (const auto table = image_list_in(parts.images, parts.lists)) return SeriesRule{SeriesBy::kColumn, *table, word};
  fail_unknown_word("--moments", word,
                    {"auto", "off", "TABLE.csv:COLUMN", "a column of the table of images in --images"});
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

}  // namespace

std::map<std::string, int64_t> find_stated_moments(const RecognizerParts& parts,
                                                   const std::vector<EnrolRequest>& classes) {
  const std::optional<SeriesRule> column = column_of_moments(parts);
  return column ? moments_in(*column, classes) : std::map<std::string, int64_t>();
}

}  // namespace protocom
