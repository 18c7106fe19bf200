#include "eval/test_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "eval/analysis_queries.h"
#include "eval/shares.h"

namespace protocom {
namespace {

constexpr size_t kTop = 5;

double share_of(int64_t part, int64_t all) { return static_cast<double>(part) / static_cast<double>(all); }

void count_own(const TestedImage& image, TestResult& result) {
  ++result.images;
  result.right += image.is_right() ? 1 : 0;
  result.refused += image.is_refused() ? 1 : 0;
  result.kept_right += image.is_right() && !image.is_refused() ? 1 : 0;
  result.certainty += image.certainty;
  result.log_loss += image.loss;
}

void count_unknown(const TestedImage& image, std::map<std::string, UnknownClass>& classes, TestResult& result) {
  UnknownClass& own = classes[image.class_name];
  own.name = image.class_name;
  ++own.images;
  ++result.unknown;
  if (image.is_refused()) return;
  ++own.accepted;
  ++result.accepted;
}

void take_shares(TestResult& result) {
  const auto n = static_cast<double>(result.images);
  result.certainty /= n;
  result.log_loss /= n;
  result.accuracy = share_of(result.right, result.images);
  const ShareInterval interval = share_interval(result.right, result.images);
  result.low = interval.low;
  result.high = interval.high;
}

void take_top5(size_t classes, TestResult& result) {
  if (classes <= kTop) return;
  const auto among = std::count_if(result.tested.begin(), result.tested.end(), [](const TestedImage& image) {
    return image.rank >= 1 && image.rank <= static_cast<int64_t>(kTop);
  });
  result.top5 = share_of(among, result.images);
}

/// Sets the bins by reliability_curve(), with each image as an episode of its own; bins and error are those of Guo et
/// al. 2017.
void take_bins(TestResult& result) {
  std::vector<Prediction> all;
  for (const TestedImage& image : result.tested) {
    if (!image.known) continue;
    const auto number = static_cast<int64_t>(all.size());
    all.push_back({number, number, 0, image.is_right() ? 0 : 1, static_cast<float>(image.certainty), 0});
  }
  const ReliabilityCurve curve = reliability_curve(all);
  result.expected_error = curve.expected_error;
  for (const CalibrationBin& bin : curve.bins)
    result.bins.push_back({bin.low, bin.high, bin.count, bin.confidence, bin.accuracy});
}

using Confusion = std::map<size_t, std::map<size_t, int64_t>>;  ///< right class -> answer -> images

Confusion confusion_of(const std::map<std::string, size_t>& places, const TestResult& result) {
  Confusion counts;
  for (const TestedImage& image : result.tested) {
    if (image.known) ++counts[places.at(image.class_name)][places.at(image.answer)];
  }
  return counts;
}

TestedClass class_of(const std::vector<std::string>& names, size_t own, const std::map<size_t, int64_t>& answers) {
  TestedClass tested;
  tested.name = names[own];
  for (const auto& [answer, images] : answers) {
    tested.images += images;
    if (answer == own) tested.right = images;
    if (answer == own || images <= tested.confused) continue;
    tested.confused = images;
    tested.confused_with = names[answer];
  }
  return tested;
}

void take_classes(const std::vector<std::string>& names, TestResult& result) {
  std::map<std::string, size_t> places;
  for (size_t k = 0; k < names.size(); ++k) places[names[k]] = k;
  std::map<std::string, int64_t> refused;
  for (const TestedImage& image : result.tested) refused[image.class_name] += image.known && image.is_refused() ? 1 : 0;
  for (const auto& [own, answers] : confusion_of(places, result)) {
    result.classes.push_back(class_of(names, own, answers));
    result.classes.back().refused = refused[names[own]];
    for (const auto& [answer, images] : answers) result.confusion.push_back({names[own], names[answer], images});
  }
}

bool is_wrong_answer(const TestedImage& image) {
  if (image.is_refused()) return false;
  return image.known ? !image.is_right() : image.none.has_value();
}

/// Returns "-2.1".
std::string points(double share) { return fmt::format("{:.1f}", 100 * share); }

}  // namespace

void take_figures(const std::vector<std::string>& names, TestResult& result) {
  result.enrolled = static_cast<int64_t>(names.size());
  std::map<std::string, UnknownClass> unknown;
  for (const TestedImage& image : result.tested)
    image.known ? count_own(image, result) : count_unknown(image, unknown, result);
  for (const auto& [name, own] : unknown) result.unknown_classes.push_back(own);
  if (result.images == 0) return;
  take_shares(result);
  take_top5(names.size(), result);
  take_bins(result);
  take_classes(names, result);
}

double sureness(const TestedImage& image) { return image.certainty * (1 - image.none.value_or(0)); }

std::vector<int64_t> worst_answers(const TestResult& result, int64_t most) {
  std::vector<int64_t> wrong;
  for (size_t i = 0; i < result.tested.size(); ++i) {
    if (is_wrong_answer(result.tested[i])) wrong.push_back(static_cast<int64_t>(i));
  }
  const auto sure = [&](int64_t place) { return sureness(result.tested[static_cast<size_t>(place)]); };
  std::stable_sort(wrong.begin(), wrong.end(), [&](int64_t a, int64_t b) { return sure(a) > sure(b); });
  wrong.resize(std::min(wrong.size(), static_cast<size_t>(std::max<int64_t>(0, most))));
  return wrong;
}

TestComparison compare_tests(const TestResult& first, const TestResult& second) {
  if (first.tested.size() != second.tested.size())
    fail("comparing two tests needs the same images, found {} and {} images", first.tested.size(),
         second.tested.size());
  TestComparison made;
  for (size_t i = 0; i < first.tested.size(); ++i) {
    const TestedImage &one = first.tested[i], &other = second.tested[i];
    if (one.image != other.image || one.known != other.known)
      fail("comparing two tests needs the same images, found '{}' and '{}'", one.image, other.image);
    const bool both_refuse = one.none && other.none;
    if (one.answer != other.answer || (both_refuse && one.is_refused() != other.is_refused()))
      made.differing.push_back(static_cast<int64_t>(i));
    if (!one.known) continue;
    ++made.images;
    made.first_only += one.is_right() && !other.is_right() ? 1 : 0;
    made.second_only += other.is_right() && !one.is_right() ? 1 : 0;
  }
  const PairedCounts counts{made.images, made.first_only, made.second_only};
  const ShareInterval interval = paired_interval(counts);
  made.difference = share_of(made.second_only - made.first_only, made.images);
  made.low = interval.low;
  made.high = interval.high;
  made.p_value = mcnemar_p_value(counts);
  return made;
}

std::string accuracy_sentence(const TestResult& result) {
  return fmt::format("{} % right (95 %: {} to {}), {} of {}", points(result.accuracy), points(result.low),
                     points(result.high), result.right, result.images);
}

std::string comparison_sentence(const TestComparison& comparison) {
  return fmt::format(
      "{} points {} (95 %: {} to {}), McNemar's p = {:.2g}; right by the second alone: {} images, by the first alone: "
      "{}",
      points(std::abs(comparison.difference)), comparison.difference < 0 ? "worse" : "better", points(comparison.low),
      points(comparison.high), comparison.p_value, comparison.second_only, comparison.first_only);
}

}  // namespace protocom
