#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "report/detail/analyses.h"

namespace protocom {
namespace {

constexpr size_t kClasses = 4;
constexpr size_t kMistakes = 3;
constexpr size_t kOfTheOther = 2;

/// Returns the images of a class that were wrong most often, each with its most frequent wrong answer; first those
/// answered as `confused_with`, the class's own most frequent wrong answer.
std::vector<std::pair<std::string, std::string>> most_often_wrong(Workbench& bench, const std::string& class_name,
                                                                  const std::string& confused_with) {
  const FeatureSet& features = bench.features();
  const auto name_of = [&](int64_t k) -> const std::string& { return features.class_names[static_cast<size_t>(k)]; };
  std::map<int64_t, std::map<int64_t, int64_t>> taken;  // image -> wrong answer -> how often
  for (const Prediction& query : bench.predictions()) {
    if (query.predicted != query.true_class && name_of(query.true_class) == class_name)
      ++taken[query.row][query.predicted];
  }
  std::vector<std::tuple<bool, int64_t, int64_t, int64_t>> images;  // other wrong answer, -how often, image, answer
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

/// Returns the first images of the class with that title.
std::vector<std::string> some_images(const Workbench& bench, const std::string& title) {
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

/// Returns the four classes with the lowest accuracy, with the images that were wrong most often and some of the class
/// that they are confused with.
std::vector<WorstClass> worst_classes(Workbench& bench, const ClassesAnalysis& analysis) {
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

std::string hash_of_answers(Workbench& bench) { return bench.answers().list.hash(bench.features()); }

AnalysisOutcome classes(Workbench& bench) {
  const auto& predictions = bench.predictions();
  std::vector<std::string> words;
  for (const std::string& name : bench.features().class_names) words.push_back(bench.title_of(name));
  auto analysis = analyse_classes(bench.features(), bench.answers().list, predictions, words);
  analysis.method = bench.analysed();
  return {classes_section(analysis, bench.episodes(), bench.why_analysed(), worst_classes(bench, analysis),
                          bench.pictures()),
          analysis, hash_of_answers(bench)};
}

AnalysisOutcome calibration(Workbench& bench) {
  std::vector<ReliabilityCurve> methods;
  for (const MethodScores& scores : bench.answers().scores.methods) {
    methods.push_back(reliability_curve(scores.predictions, bench.options().bins));
    methods.back().method = scores.method;
    methods.back().mode = scores.mode;
  }
  return {calibration_section(methods, bench.episodes()), methods, hash_of_answers(bench)};
}

Mistake shown(Workbench& bench, const Prediction& wrong) {
  const FeatureSet& features = bench.features();
  const Episode& episode = bench.answers().list.episodes[static_cast<size_t>(wrong.episode)];
  const auto support_of = [&](int64_t k) {
    const auto place = std::find(episode.classes.begin(), episode.classes.end(), k) - episode.classes.begin();
    return features.image_ids[static_cast<size_t>(episode.support[static_cast<size_t>(place)].front())];
  };
  const auto title = [&](int64_t k) { return bench.title_of(features.class_names[static_cast<size_t>(k)]); };
  return {features.image_ids[static_cast<size_t>(wrong.row)],
          title(wrong.true_class),
          title(wrong.predicted),
          wrong.probability,
          support_of(wrong.predicted),
          support_of(wrong.true_class)};
}

AnalysisOutcome failures(Workbench& bench) {
  std::vector<Mistake> mistakes;
  for (const Prediction& wrong : surest_mistakes(bench.predictions(), bench.options().mistakes))
    mistakes.push_back(shown(bench, wrong));
  return {failures_section(mistakes, bench.analysed(), bench.episodes(), bench.pictures(), bench.why_analysed()),
          mistakes, hash_of_answers(bench)};
}

/// Returns the numbers of shots of the results, each once. Throws UsageError if there is none.
template <typename Result>
std::vector<int64_t> shots_of(const std::vector<Result>& results) {
  if (results.empty()) fail_usage("no method given supports that number of labelled images");
  std::vector<int64_t> shots;
  for (const Result& result : results) {
    if (shots.empty() || static_cast<double>(shots.back()) != result.shots)
      shots.push_back(static_cast<int64_t>(result.shots));
  }
  return shots;
}

std::string lacks_other_classes(const Workbench& bench) {
  return bench.other_classes() > 0 ? "" : fmt::format("{} classes than an episode has", kTooFew);
}

AnalysisOutcome unseen(Workbench& bench) {
  const OpenSetOptions tasks{bench.episodes(), bench.options().few_shots,
                             std::min(bench.options().others, bench.other_classes())};
  const auto results = analyse_open_set(bench.inputs().data, bench.inputs().methods, tasks, bench.progress());
  std::vector<EpisodeOptions> lists;
  for (const int64_t shots : shots_of(results)) lists.push_back(with_others(tasks, shots));
  return {open_set_section(results, tasks), results, bench.hashes_of(lists)};
}

std::string lacks_base_images(const Workbench& bench) {
  return bench.spare_images(Split::kBase) > 0 ? "" : fmt::format("{} images of base classes", kTooFew);
}

AnalysisOutcome generalised(Workbench& bench) {
  const GeneralisedOptions tasks{bench.episodes(), bench.options().few_shots,
                                 std::min(bench.options().base_shots, bench.spare_images(Split::kBase))};
  const auto results = analyse_generalised(bench.inputs().data, bench.inputs().methods, tasks, bench.progress());
  const auto shots = shots_of(results);
  return {generalised_section(results, tasks), results, bench.hashes_of(shots, &EpisodeShape::k_shot)};
}

}  // namespace

std::vector<Analysis> answer_analyses() {
  return {{"classes", &classes},
          {"calibration", &calibration},
          {"failures", &failures},
          {"unseen", &unseen, &lacks_other_classes},
          {"generalised", &generalised, &lacks_base_images}};
}

}  // namespace protocom
