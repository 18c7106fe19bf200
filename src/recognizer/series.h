#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.h"

namespace protocom {

/// The property that makes photos one series: frames of a burst, of a video, of one visit to a camera trap.
enum class SeriesBy {
  kTime,    ///< taken within `gap` seconds of one another (capture_time), in one folder
  kFolder,  ///< in one folder
  kColumn   ///< with the same text in a table's column
};

/// The rule for grouping photos.
struct SeriesRule {
  SeriesBy by = SeriesBy::kTime;
  std::filesystem::path table = {};  ///< a CSV with a column of images; for kColumn
  std::string column = {};           ///< name of the column
};

/// Parses "time", "folder", or a CSV and its column: "visits.csv:visit". Throws UsageError for anything else.
SeriesRule parse_series(std::string_view word);

/// Parses a CSV and its column, "visits.csv:visit"; nothing for another word.
std::optional<SeriesRule> table_column_in(std::string_view word);

inline constexpr double kSeriesGap = 60;  ///< seconds; camera-trap studies take 30 s to 2 min for one visit

/// Photos in groups.
struct Series {
  std::vector<std::vector<std::filesystem::path>> groups;  ///< in the order of their first photos; each sorted by time
  int64_t alone = 0;  ///< number of photos without a time, or not in the table: each is a series of its own
};

/// Groups photos, or boxes of photos (ImageRegion) as their photos are. By time, a series continues as long as the next
/// photo of the folder was taken at most `gap` seconds after the last one; a photo that cannot be read is a series of
/// its own. By a column, photos form a series wherever they are (cells_of_photos). Throws UsageError unless `gap` is
/// positive, Error for an invalid table.
Series group_photos(const std::vector<std::filesystem::path>& photos, const SeriesRule& rule, double gap = kSeriesGap);

/// Returns the feature of a series with features [n, d]: their mean, float32 [1, d], computed in double precision.
Array mean_feature(const Array& features);

}  // namespace protocom
