#include "recognizer/series.h"

#include <algorithm>
#include <map>

#include "base/enum_words.h"
#include "base/error.h"
#include "base/matrix.h"
#include "datasets/table_column.h"
#include "images/capture_time.h"
#include "images/image_region.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr EnumWord<SeriesBy> kWords[] = {{SeriesBy::kTime, "time"}, {SeriesBy::kFolder, "folder"}};

/// Groups of indices into all photos.
using Places = std::vector<std::vector<size_t>>;

struct TimedPhoto {
  size_t place;  ///< index into all photos
  double time;
};

/// Splits the photos of one folder where the gap in time is larger than `gap`.
Places split_at_gaps(std::vector<TimedPhoto> photos, double gap) {
  std::sort(photos.begin(), photos.end(), [](const TimedPhoto& a, const TimedPhoto& b) {
    return a.time != b.time ? a.time < b.time : a.place < b.place;
  });
  Places groups;
  for (size_t i = 0; i < photos.size(); ++i) {
    if (i == 0 || photos[i].time - photos[i - 1].time > gap) groups.emplace_back();
    groups.back().push_back(photos[i].place);
  }
  return groups;
}

/// Groups the photos of each folder by time, or all of it together; counts photos without a time.
Places by_folder(const std::vector<fs::path>& photos, SeriesBy by, double gap, Series& series) {
  std::map<fs::path, std::vector<TimedPhoto>> folders;
  Places groups;
  for (size_t i = 0; i < photos.size(); ++i) {
    const std::optional<double> time = by == SeriesBy::kFolder ? 0 : capture_time_of(photos[i]);
    if (time) {
      folders[photos[i].parent_path()].push_back({i, *time});
    } else {
      groups.push_back({i});
      ++series.alone;
    }
  }
  for (const auto& [folder, timed] : folders) {
    Places own = split_at_gaps(timed, gap);
    groups.insert(groups.end(), own.begin(), own.end());
  }
  return groups;
}

/// Groups the photos by their text in the table; counts photos that it does not contain.
Places by_column(const std::vector<fs::path>& photos, const SeriesRule& rule, Series& series) {
  const std::vector<std::string> texts = cells_of_photos(rule.table, rule.column, photos);
  std::map<std::string, std::vector<size_t>> of_text;
  Places groups;
  for (size_t i = 0; i < photos.size(); ++i) {
    if (texts[i].empty()) {
      groups.push_back({i});
      ++series.alone;
    } else {
      of_text[texts[i]].push_back(i);
    }
  }
  for (auto& [text, places] : of_text) groups.push_back(std::move(places));
  return groups;
}

Places in_order_of_first(Places groups) {
  const auto first = [](const std::vector<size_t>& group) { return *std::min_element(group.begin(), group.end()); };
  std::sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) { return first(a) < first(b); });
  return groups;
}

}  // namespace

std::optional<SeriesRule> table_column_in(std::string_view word) {
  const size_t colon = word.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == word.size()) return std::nullopt;
  return SeriesRule{SeriesBy::kColumn, fs::path(word.substr(0, colon)), std::string(word.substr(colon + 1))};
}

SeriesRule parse_series(std::string_view word) {
  if (const std::optional<SeriesRule> column = table_column_in(word)) return *column;
  for (const EnumWord<SeriesBy>& entry : kWords) {
    if (entry.word == word) return {entry.value};
  }
  fail_unknown_word("what makes a series", word, {"time", "folder", "TABLE.csv:COLUMN"});
}

Series group_photos(const std::vector<fs::path>& photos, const SeriesRule& rule, double gap) {
  if (!(gap > 0)) fail_usage("gap of a series: expected a number above 0, found {} seconds", gap);
  std::vector<fs::path> files;
  for (const fs::path& photo : photos) files.push_back(region_of(photo).file);
  Series series;
  const Places groups =
      rule.by == SeriesBy::kColumn ? by_column(files, rule, series) : by_folder(files, rule.by, gap, series);
  for (const std::vector<size_t>& group : in_order_of_first(groups)) {
    auto& paths = series.groups.emplace_back();
    for (const size_t place : group) paths.push_back(photos[place]);
  }
  return series;
}

Array mean_feature(const Array& features) {
  const auto rows = matrix_of<float>(features);
  const Eigen::RowVectorXd mean = rows.cast<double>().colwise().sum() / static_cast<double>(rows.rows());
  return array_of_matrix(FloatMatrix(mean.cast<float>()));
}

}  // namespace protocom
