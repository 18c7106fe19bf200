#include "recognizer/series.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/enum_words.h"
#include "base/error.h"
#include "base/matrix.h"
#include "images/capture_time.h"
#include "io/files.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr EnumWord<SeriesBy> kWords[] = {{SeriesBy::kTime, "time"}, {SeriesBy::kFolder, "folder"}};

std::optional<double> time_of(const fs::path& photo) {
  try {
    return capture_time(MappedFile(photo).bytes());
  } catch (const Error&) {
    return std::nullopt;  // classifying it reports why
  }
}

struct TimedPhoto {
  size_t place;  ///< among all photos
  double time;
};

/// The places of photos of one folder in groups that a gap separates.
std::vector<std::vector<size_t>> split_at_gaps(std::vector<TimedPhoto> photos, double gap) {
  std::sort(photos.begin(), photos.end(), [](const TimedPhoto& a, const TimedPhoto& b) {
    return a.time != b.time ? a.time < b.time : a.place < b.place;
  });
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < photos.size(); ++i) {
    if (i == 0 || photos[i].time - photos[i - 1].time > gap) groups.emplace_back();
    groups.back().push_back(photos[i].place);
  }
  return groups;
}

}  // namespace

SeriesBy parse_series(std::string_view word) { return value_of(kWords, word, "what makes a series"); }

Series group_photos(const std::vector<fs::path>& photos, SeriesBy by, double gap) {
  if (!(gap > 0)) fail_usage("gap of a series: expected a number above 0, found {} seconds", gap);
  Series series;
  std::map<fs::path, std::vector<TimedPhoto>> folders;
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < photos.size(); ++i) {
    const std::optional<double> time = by == SeriesBy::kFolder ? 0 : time_of(photos[i]);
    if (time) {
      folders[photos[i].parent_path()].push_back({i, *time});
    } else {
      groups.push_back({i});
      ++series.without_time;
    }
  }
  for (const auto& [folder, timed] : folders) {
    std::vector<std::vector<size_t>> own = split_at_gaps(timed, gap);
    groups.insert(groups.end(), own.begin(), own.end());
  }
  const auto first = [](const std::vector<size_t>& group) { return *std::min_element(group.begin(), group.end()); };
  std::sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) { return first(a) < first(b); });
  for (const std::vector<size_t>& group : groups) {
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
