#include "eval/fit_space.h"

#include <algorithm>

#include "base/error.h"
#include "base/evenly.h"
#include "base/log.h"
#include "eval/fit.h"
#include "fewshot/toolbox/neighbour_groups.h"

namespace protocom {
namespace {

constexpr int64_t kFewestGroups = 16;

/// Returns at most kMostToGroup of the images, sampled evenly.
Array sampled_features(const Array& features) {
  const int64_t n = features.size(0);
  if (n <= kMostToGroup) return features;
  logger().info("of {} images {} are used, evenly spaced", n, kMostToGroup);
  return features.gathered(evenly(n, kMostToGroup));
}

/// Returns the `count` groups as base classes.
FeatureSet grouped(const Array& features, const std::vector<int64_t>& groups, int64_t count) {
  std::vector<int64_t> rows;
  FeatureSet set;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] < 0) continue;
    rows.push_back(static_cast<int64_t>(i));
    set.labels.push_back(groups[i]);
    set.image_ids.push_back(std::to_string(set.image_ids.size()));
  }
  set.features = features.gathered(rows);
  for (int64_t k = 0; k < count; ++k) {
    set.class_names.push_back(fmt::format("group {}", k));
    set.class_split.push_back(Split::kBase);
  }
  return set;
}

}  // namespace

FittedMethod fit_space(const Array& features, uint64_t seed, Progress& progress) {
  const Array some = sampled_features(features).to(NumberType::kFloat32);
  const std::vector<int64_t> groups = neighbour_groups(matrix_of<float>(some));
  const int64_t found = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
  const auto images = std::count_if(groups.begin(), groups.end(), [](int64_t group) { return group >= 0; });
  if (found < kFewestGroups)
    fail("{} of {} images form {} groups of similar images, expected at least {} groups: give more images", images,
         some.size(0), found, kFewestGroups);
  logger().info("{} of {} images are in {} groups of four or five that look alike", images, some.size(0), found);
  const FeatureSet base = grouped(some, groups, found);
  FitRecipe options;
  options.seed = seed;
  return space_of(fit_method({base}, options, progress));
}

}  // namespace protocom
