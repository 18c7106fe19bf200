#include <algorithm>
#include <cmath>
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

namespace protocom::feature_parts {
namespace {

void check_count(const Array& labels, int64_t images, const std::string& where) {
  if (labels.dim() == 2 && labels.size(0) == images && labels.size(1) > 1)
    fail("{}: expected {} labels, one per feature row, found [{}]: if these are one-hot, save labels.argmax(1)", where,
         images, fmt::join(labels.shape(), ", "));
  if (labels.dim() != 1 || labels.size(0) != images)
    fail("{}: expected {} labels, one per feature row, found [{}]", where, images, fmt::join(labels.shape(), ", "));
}

bool is_whole(double number) {
  constexpr double kLargest = 1e15;  // beyond it, not every whole number is a double
  return number == std::round(number) && std::abs(number) < kLargest;
}

/// Whether labels are whole numbers, which MATLAB and pandas write as floats.
bool are_whole(const Array& labels) {
  if (labels.type() == NumberType::kBool) return false;
  if (!is_real(labels.type())) return true;
  const Array numbers = labels.to(NumberType::kFloat64);
  return std::all_of(numbers.data<double>(), numbers.data<double>() + numbers.numel(), is_whole);
}

void check_label_range(const FeatureSet& set, const std::string& where) {
  const auto [lowest, highest] = std::minmax_element(set.labels.begin(), set.labels.end());
  const int64_t low = *lowest, high = *highest;
  const auto classes = static_cast<int64_t>(set.class_names.size());
  if (low >= 0 && high < classes) return;
  const char* hint = low == 1 && high == classes ? ": they count from 1, subtract 1" : "";
  fail("{}: labels run from {} to {}, there are {} classes{}", where, low, high, classes, hint);
}

/// Whether every number from 0 to `high` occurs, for labels of at least 0: without sorting, which takes three times the
/// memory of millions of labels.
bool are_all_there(const std::vector<int64_t>& labels, int64_t high) {
  if (high >= static_cast<int64_t>(labels.size())) return false;
  std::vector<bool> there(static_cast<size_t>(high) + 1);
  for (const int64_t label : labels) there[static_cast<size_t>(label)] = true;
  return std::find(there.begin(), there.end(), false) == there.end();
}

/// Makes each number that occurs a class with that name.
void take_numbers_as_classes(const LabelContext& context, FeatureSet& set) {
  const auto [lowest, highest] = std::minmax_element(set.labels.begin(), set.labels.end());
  const int64_t low = *lowest, high = *highest;
  const bool split_of_all = context.split_classes > 0 && static_cast<int64_t>(context.split_classes) == high + 1;
  if (low >= 0 && (split_of_all || are_all_there(set.labels, high))) {
    set.class_names = numbered(high + 1);
    return;
  }
  std::vector<int64_t> values = set.labels;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  logger().info("{}: the labels are {} numbers from {} to {}; each number is taken as the name of a class",
                context.where, values.size(), low, high);
  set.class_names.clear();
  for (const int64_t value : values) set.class_names.push_back(std::to_string(value));
  for (int64_t& label : set.labels) label = std::lower_bound(values.begin(), values.end(), label) - values.begin();
}

void take_texts(const std::vector<std::string>& written, const LabelContext& context, FeatureSet& set) {
  const std::vector<std::string> texts = clean_names(written);
  if (static_cast<int64_t>(texts.size()) != set.features.size(0))
    fail("{}: expected {} labels, one per feature row, found [{}]", context.where, set.features.size(0), texts.size());
  const std::set<std::string> sorted(texts.begin(), texts.end());
  set.class_names = context.names ? *context.names : std::vector<std::string>(sorted.begin(), sorted.end());
  std::map<std::string, int64_t> number;
  for (const std::string& name : set.class_names) number.emplace(name, static_cast<int64_t>(number.size()));
  set.labels.clear();
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) fail("{}: the label of row {} is empty", context.where, i);
    const auto found = number.find(texts[i]);
    if (found == number.end())
      fail("{}: unknown label '{}' in row {}{}", context.where, excerpt(texts[i]), i,
           did_you_mean(texts[i], set.class_names));
    set.labels.push_back(found->second);
  }
}

}  // namespace

Array checked_features(const Array& raw, const std::string& where) {
  Shape shape = raw.shape();
  while (shape.size() > 2 && shape.back() == 1) shape.pop_back();  // pooled, and not yet squeezed
  if (shape.size() != 2 || shape[0] == 0 || shape[1] == 0) {
    fail("{}: expected features [n, d], found {} dimensions of sizes [{}]{}", where, raw.dim(),
         fmt::join(raw.shape(), ", "), raw.dim() == 4 ? ": save the mean over positions, x.mean((2, 3))" : "");
  }
  Array features = raw.reshaped(std::move(shape)).to(NumberType::kFloat32);
  check_features(features, where);
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
  set.labels = label_numbers(std::get<Array>(raw), set.features.size(0), context.where);
  if (!context.names) return take_numbers_as_classes(context, set);
  set.class_names = *context.names;
  check_label_range(set, context.where);
}

}  // namespace protocom::feature_parts

namespace protocom {

using namespace feature_parts;

std::vector<int64_t> label_numbers(const Array& raw, int64_t images, const std::string& where) {
  const bool column = raw.dim() == 2 && (raw.size(0) == 1 || raw.size(1) == 1);
  const Array labels = column ? raw.reshaped({raw.numel()}) : raw;
  check_count(labels, images, where);
  if (!are_whole(labels)) fail("{}: labels: expected integers, or the names of the classes", where);
  const Array whole = labels.to(NumberType::kInt64);
  return {whole.data<int64_t>(), whole.data<int64_t>() + whole.numel()};
}

}  // namespace protocom
