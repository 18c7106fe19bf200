#include "eval/detail/used_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "base/feature_values.h"
#include "eval/detail/episode_rows.h"
#include "io/mapped_rows.h"
#include "tensors/tensors.h"

namespace protocom {

void check_used_rows(const FeatureSet& features, const EpisodeList& episodes) {
  constexpr size_t kTogether = 65536;
  if (!is_mapped(array_of(features.features))) return;
  std::vector<int64_t> rows;
  for (const Episode& episode : episodes.episodes) {
    for (const auto* groups : {&episode.support, &episode.query, &episode.pool}) append(*groups, rows);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  for (size_t begin = 0; begin < rows.size(); begin += kTogether) {
    const size_t count = std::min(kTogether, rows.size() - begin);
    const at::Tensor some = at::from_blob(rows.data() + begin, {static_cast<int64_t>(count)}, at::kLong);
    check_features(array_of(features.features.index_select(0, some)), "the episodes");
  }
}

void check_taken_rows(const FeatureSet& features, const at::Tensor& taken) {
  if (is_mapped(array_of(features.features))) check_features(array_of(taken), "the features");
}

}  // namespace protocom
