#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/feature_values.h"
#include "base/log.h"
#include "base/near_matches.h"
#include "base/text.h"
#include "datasets/detail/feature_parts.h"
#include "tensors/tensors.h"

namespace protocom::feature_parts {
namespace {

void check_count(const at::Tensor& labels, int64_t images, const std::string& where) {
  if (labels.dim() == 2 && labels.size(0) == images && labels.size(1) > 1)
    fail("{}: {} labels were expected, one a feature row; found [{}]: where these are one-hot, save labels.argmax(1)",
         where, images, fmt::join(labels.sizes(), ", "));
  if (labels.dim() != 1 || labels.size(0) != images)
    fail("{}: {} labels were expected, one a feature row; found [{}]", where, images, fmt::join(labels.sizes(), ", "));
}

/// int64 [n]; MATLAB and pandas write whole numbers as floats.
at::Tensor whole_numbers(const at::Tensor& raw, int64_t images, const std::string& where) {
  const bool column = raw.dim() == 2 && (raw.size(0) == 1 || raw.size(1) == 1);
  const at::Tensor labels = column ? raw.reshape({-1}) : raw;
  check_count(labels, images, where);
  if (at::isIntegralType(labels.scalar_type(), false)) return labels.to(at::kLong).contiguous();
  constexpr double kLargest = 1e15;  // beyond, not every whole number is a double
  const bool whole = at::isFloatingType(labels.scalar_type()) &&
                     at::all((labels == labels.round()).logical_and(labels.abs() < kLargest)).item<bool>();
  if (!whole) fail("{}: labels must be integers, or the names of the classes", where);
  return labels.to(at::kLong).contiguous();
}

void check_label_range(const FeatureSet& set, const std::string& where) {
  const int64_t low = set.labels.min().item<int64_t>();
  const int64_t high = set.labels.max().item<int64_t>();
  const auto classes = static_cast<int64_t>(set.class_names.size());
  if (low >= 0 && high < classes) return;
  const char* hint = low == 1 && high == classes ? ": they count from 1, subtract 1" : "";
  fail("{}: labels run from {} to {}, there are {} classes{}", where, low, high, classes, hint);
}

/// Whether each of 0 to `high` is there, of labels of at least 0: without sorting, which takes three times the room of
/// millions of labels.
bool are_all_there(const at::Tensor& labels, int64_t high) {
  if (high >= labels.numel()) return false;
  std::vector<bool> there(static_cast<size_t>(high) + 1);
  const auto* label = labels.data_ptr<int64_t>();
  for (int64_t i = 0; i < labels.numel(); ++i) there[static_cast<size_t>(label[i])] = true;
  return std::find(there.begin(), there.end(), false) == there.end();
}

/// Each number that is there is a class, called by it.
void take_numbers_as_classes(const LabelContext& context, FeatureSet& set) {
  const int64_t low = set.labels.min().item<int64_t>();
  const int64_t high = set.labels.max().item<int64_t>();
  const bool split_of_all = context.split_classes > 0 && static_cast<int64_t>(context.split_classes) == high + 1;
  if (low >= 0 && (split_of_all || are_all_there(set.labels, high))) {
    set.class_names = numbered(high + 1);
    return;
  }
  const auto [values, index, counts] = at::_unique2(set.labels, /*sorted=*/true, /*return_inverse=*/true);
  const int64_t classes = values.size(0);
  logger().info("{}: the labels are {} numbers from {} to {}; each is a class, called by its number", context.where,
                classes, low, high);
  set.class_names.clear();
  const auto* value = values.data_ptr<int64_t>();
  for (int64_t i = 0; i < classes; ++i) set.class_names.push_back(std::to_string(value[i]));
  set.labels = index.contiguous();
}

void take_texts(const std::vector<std::string>& written, const LabelContext& context, FeatureSet& set) {
  const std::vector<std::string> texts = clean_names(written);
  if (static_cast<int64_t>(texts.size()) != set.features.size(0))
    fail("{}: {} labels were expected, one a feature row; found [{}]", context.where, set.features.size(0),
         texts.size());
  const std::set<std::string> sorted(texts.begin(), texts.end());
  set.class_names = context.names ? *context.names : std::vector<std::string>(sorted.begin(), sorted.end());
  std::map<std::string, int64_t> number;
  for (const std::string& name : set.class_names) number.emplace(name, static_cast<int64_t>(number.size()));
  set.labels = at::empty({set.features.size(0)}, at::kLong);
  auto* label = set.labels.data_ptr<int64_t>();
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) fail("{}: the label of row {} is empty", context.where, i);
    const auto found = number.find(texts[i]);
    if (found == number.end())
      fail("{}: the label '{}' of row {} is none of the names{}", context.where, excerpt(texts[i]), i,
           did_you_mean(texts[i], set.class_names));
    label[i] = found->second;
  }
}

}  // namespace

at::Tensor checked_features(const at::Tensor& raw, const std::string& where) {
  at::Tensor flat = raw;
  while (flat.dim() > 2 && flat.size(-1) == 1) flat = flat.squeeze(-1);  // pooled, and not yet squeezed
  if (flat.dim() != 2 || flat.size(0) == 0 || flat.size(1) == 0) {
    fail("{}: features of shape [n, d] were expected, found {} dimensions of sizes [{}]{}", where, raw.dim(),
         fmt::join(raw.sizes(), ", "), raw.dim() == 4 ? ": save the mean over places, x.mean((2, 3))" : "");
  }
  at::Tensor features = flat.to(at::kFloat).contiguous();
  check_features(array_of(features), where);
  return features;
}

std::vector<std::string> numbered(int64_t count) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<std::string> clean_names(std::vector<std::string> names) {
  for (std::string& name : names) name = clean_name(name);
  return names;
}

void take_labels(const NumpyArray& raw, const LabelContext& context, FeatureSet& set) {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&raw)) return take_texts(*texts, context, set);
  set.labels = whole_numbers(tensor_of(std::get<Array>(raw)), set.features.size(0), context.where);
  if (!context.names) return take_numbers_as_classes(context, set);
  set.class_names = *context.names;
  check_label_range(set, context.where);
}

}  // namespace protocom::feature_parts
