#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.h"

namespace protocom {

/// What makes photos one series: frames of a burst, of a video, of one visit to a camera trap.
enum class SeriesBy {
  kTime,    ///< taken within `gap` seconds of one another (capture_time), in one folder
  kFolder,  ///< in one folder
  kColumn   ///< of one text in a table's column
};

/// How photos are grouped.
struct SeriesRule {
  SeriesBy by = SeriesBy::kTime;
  std::filesystem::path table = {};  ///< a CSV with a column of images; of kColumn
  std::string column = {};           ///< of it
};

/// "time", "folder", or a CSV and its column: "visits.csv:visit". Throws UsageError for anything else.
SeriesRule parse_series(std::string_view word);

/// A CSV and its column, "visits.csv:visit"; nothing for another word.
std::optional<SeriesRule> table_column_in(std::string_view word);

inline constexpr double kSeriesGap = 60;  ///< seconds; camera-trap studies take 30 s to 2 min for one visit

/// Photos in groups.
struct Series {
  std::vector<std::vector<std::filesystem::path>> groups;  ///< in the order of their first photos; by time within
  int64_t alone = 0;  ///< photos without a time, or that the table says nothing of: each is a series of its own
};

/// Groups photos, or boxes of photos (ImageRegion) as their photos are. By time, a series continues as long as the next
/// photo of the folder was taken at most `gap` seconds after the last one; a photo that cannot be read is a series of
/// its own. By a column, photos are of one series wherever they lie (cells_of_photos). Throws UsageError unless `gap`
/// is positive, Error for a table that is none.
Series group_photos(const std::vector<std::filesystem::path>& photos, const SeriesRule& rule, double gap = kSeriesGap);

/// The feature of a series with features [n, d]: their mean, float32 [1, d], computed in double precision.
Array mean_feature(const Array& features);

}  // namespace protocom
