#include <algorithm>

#include "protocom/core/error.h"
#include "report/analyses.h"
#include "report/worst_classes.h"

namespace protocom {
namespace {

std::string hash_of_answers(Bench& bench) { return bench.answers().list.hash(bench.features()); }

AnalysisOutcome classes(Bench& bench) {
  const auto& predictions = bench.predictions();
  std::vector<std::string> words;
  for (const std::string& name : bench.features().class_names) words.push_back(bench.title_of(name));
  auto analysis = analyse_classes(bench.features(), bench.answers().list, predictions, words);
  analysis.method = bench.analysed();
  return {classes_section(analysis, bench.episodes(), bench.why_analysed(), worst_classes(bench, analysis),
                          bench.pictures()),
          analysis, hash_of_answers(bench)};
}

AnalysisOutcome calibration(Bench& bench) {
  std::vector<ReliabilityCurve> methods;
  for (const MethodScores& scores : bench.answers().scores.methods) {
    methods.push_back(reliability_curve(scores.predictions, bench.options().bins));
    methods.back().method = scores.method;
    methods.back().mode = scores.mode;
  }
  return {calibration_section(methods, bench.episodes()), methods, hash_of_answers(bench)};
}

Mistake shown(Bench& bench, const Prediction& wrong) {
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

AnalysisOutcome failures(Bench& bench) {
  std::vector<Mistake> mistakes;
  for (const Prediction& wrong : surest_mistakes(bench.predictions(), bench.options().mistakes))
    mistakes.push_back(shown(bench, wrong));
  return {failures_section(mistakes, bench.analysed(), bench.episodes(), bench.pictures(), bench.why_analysed()),
          mistakes, hash_of_answers(bench)};
}

/// The numbers of shots that results are of, each once. Throws UsageError where there is none.
template <typename Result>
std::vector<int64_t> told_by(const std::vector<Result>& results) {
  if (results.empty()) fail_usage("no method here answers with so few labelled images");
  std::vector<int64_t> shots;
  for (const Result& result : results) {
    if (shots.empty() || static_cast<double>(shots.back()) != result.shots)
      shots.push_back(static_cast<int64_t>(result.shots));
  }
  return shots;
}

std::string lacks_other_classes(const Bench& bench) {
  return bench.other_classes() > 0 ? "" : fmt::format("{} classes than an episode has", kTooFew);
}

AnalysisOutcome unseen(Bench& bench) {
  const OpenSetOptions tasks{bench.episodes(), bench.options().few_shots,
                             std::min(bench.options().others, bench.other_classes())};
  const auto results = analyse_open_set(bench.inputs().data, bench.inputs().methods, tasks, bench.progress());
  std::vector<EpisodeOptions> lists;
  for (const int64_t shots : told_by(results)) lists.push_back(with_others(tasks, shots));
  return {open_set_section(results, tasks), results, bench.hashes_of(lists)};
}

std::string lacks_base_images(const Bench& bench) {
  return bench.spare_images(Split::kBase) > 0 ? "" : fmt::format("{} images of base classes", kTooFew);
}

AnalysisOutcome generalised(Bench& bench) {
  const GeneralisedOptions tasks{bench.episodes(), bench.options().few_shots,
                                 std::min(bench.options().base_shots, bench.spare_images(Split::kBase))};
  const auto results = analyse_generalised(bench.inputs().data, bench.inputs().methods, tasks, bench.progress());
  const auto told = told_by(results);
  return {generalised_section(results, tasks), results, bench.hashes_of(told, &EpisodeShape::k_shot)};
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
