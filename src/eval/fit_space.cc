#include "eval/fit_space.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "base/log.h"
#include "eval/fit.h"
#include "fewshot/toolbox/neighbour_groups.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

constexpr int64_t kFewestGroups = 16;

/// At most kMostToGroup of the images, evenly.
at::Tensor some_of(const at::Tensor& features) {
  const int64_t n = features.size(0);
  if (n <= kMostToGroup) return features;
  logger().info("of {} images {} are taken, evenly", n, kMostToGroup);
  const at::Tensor rows =
      (at::arange(kMostToGroup, at::kDouble) * (static_cast<double>(n) / kMostToGroup)).to(at::kLong);
  return features.index_select(0, rows);
}

/// The groups as base classes.
FeatureSet grouped(const at::Tensor& features, const at::Tensor& groups) {
  const at::Tensor rows = groups.ge(0).nonzero().flatten();
  FeatureSet set;
  set.features = array_of(features.index_select(0, rows).to(at::kFloat));
  set.labels = numbers_of(groups.index_select(0, rows));
  for (int64_t k = 0; k <= groups.max().item<int64_t>(); ++k) {
    set.class_names.push_back(fmt::format("group {}", k));
    set.class_split.push_back(Split::kBase);
  }
  for (int64_t i = 0; i < rows.size(0); ++i) set.image_ids.push_back(std::to_string(i));
  return set;
}

}  // namespace

FittedMethod fit_space(const Array& features, uint64_t seed, Progress& progress) {
  const at::Tensor some = some_of(tensor_of(features));
  const at::Tensor groups = neighbour_groups(some);
  const int64_t found = groups.numel() == 0 ? 0 : groups.max().item<int64_t>() + 1;
  if (found < kFewestGroups)
    fail("{} of {} images look alike in {} groups, expected at least {} groups: give more images",
         groups.ge(0).sum().item<int64_t>(), some.size(0), found, kFewestGroups);
  logger().info("{} of {} images are in {} groups of four or five that look alike", groups.ge(0).sum().item<int64_t>(),
                some.size(0), found);
  const FeatureSet base = grouped(some, groups);
  FitRecipe options;
  options.seed = seed;
  return space_of(fit_method({base}, options, progress));
}

}  // namespace protocom
