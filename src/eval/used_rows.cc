#include "eval/detail/used_rows.h"

#include <algorithm>
#include <vector>

#include "base/feature_values.h"
#include "eval/detail/episode_rows.h"
#include "io/mapped_rows.h"

namespace protocom {

void check_used_rows(const FeatureSet& features, const EpisodeList& episodes) {
  constexpr size_t kTogether = 65536;
  if (!is_mapped(features.features)) return;
  std::vector<int64_t> rows;
  for (const Episode& episode : episodes.episodes) {
    for (const auto* groups : {&episode.support, &episode.query, &episode.pool}) append(*groups, rows);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  for (size_t begin = 0; begin < rows.size(); begin += kTogether) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = first + static_cast<std::ptrdiff_t>(std::min(kTogether, rows.size() - begin));
    check_features(features.features.gathered({first, last}), "the episodes");
  }
}

void check_taken_rows(const FeatureSet& features, const Array& taken) {
  if (is_mapped(features.features)) check_features(taken, "the features");
}

}  // namespace protocom
