#include "report/worst_classes.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace protocom {
namespace {

constexpr size_t kClasses = 4;
constexpr size_t kMistakes = 3;
constexpr size_t kOfTheOther = 2;

/// The images of a class that were wrong most often, each with the class it was taken for most often: first those that
/// were taken for `confused_with`, as the class is most often.
std::vector<std::pair<std::string, std::string>> most_often_wrong(Bench& bench, const std::string& class_name,
                                                                  const std::string& confused_with) {
  const FeatureSet& features = bench.features();
  const auto name_of = [&](int64_t k) -> const std::string& { return features.class_names[static_cast<size_t>(k)]; };
  std::map<int64_t, std::map<int64_t, int64_t>> taken;  // image -> class it was taken for -> how often
  for (const Prediction& query : bench.predictions()) {
    if (query.predicted != query.true_class && name_of(query.true_class) == class_name)
      ++taken[query.row][query.predicted];
  }
  std::vector<std::tuple<bool, int64_t, int64_t, int64_t>> images;  // for another one, -how often, image, class
  for (const auto& [row, by_class] : taken) {
    int64_t all = 0;
    for (const auto& item : by_class) all += item.second;
    const auto most = std::max_element(by_class.begin(), by_class.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    images.emplace_back(bench.title_of(name_of(most->first)) != confused_with, -all, row, most->first);
  }
  std::sort(images.begin(), images.end());
  std::vector<std::pair<std::string, std::string>> shown;
  for (size_t i = 0; i < std::min(kMistakes, images.size()); ++i) {
    const auto& [other, count, row, predicted] = images[i];
    shown.emplace_back(features.image_ids[static_cast<size_t>(row)], bench.title_of(name_of(predicted)));
  }
  return shown;
}

/// The first images of the class with that title.
std::vector<std::string> some_images(const Bench& bench, const std::string& title) {
  const FeatureSet& features = bench.features();
  const auto rows = features.rows_by_class();
  std::vector<std::string> shown;
  for (size_t k = 0; k < rows.size() && shown.empty(); ++k) {
    if (bench.title_of(features.class_names[k]) != title) continue;
    for (size_t i = 0; i < std::min(kOfTheOther, rows[k].size()); ++i)
      shown.push_back(features.image_ids[static_cast<size_t>(rows[k][i])]);
  }
  return shown;
}

}  // namespace

std::vector<WorstClass> worst_classes(Bench& bench, const ClassesAnalysis& analysis) {
  std::vector<const ClassScore*> ordered;
  for (const ClassScore& score : analysis.classes) ordered.push_back(&score);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto* a, const auto* b) { return a->accuracy.value < b->accuracy.value; });
  std::vector<WorstClass> worst;
  for (size_t i = 0; i < std::min(kClasses, ordered.size()); ++i) {
    const ClassScore& score = *ordered[i];
    worst.push_back({score.title, score.accuracy.value, score.confused_with, score.confused_percent,
                     most_often_wrong(bench, score.class_name, score.confused_with),
                     some_images(bench, score.confused_with)});
  }
  return worst;
}

}  // namespace protocom
