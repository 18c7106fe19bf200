#include <algorithm>

#include "knowledge/class_description.h"
#include "report/detail/analyses.h"

namespace protocom {
namespace {

/// Returns 0, 1, 2, 3, 5, 10, 20 and further doublings up to `most`, which is the last.
std::vector<int64_t> shots_up_to(int64_t most) {
  std::vector<int64_t> shots;
  for (const int64_t k : {0, 1, 2, 3, 5, 10, 20}) {
    if (k < most) shots.push_back(k);
  }
  while (shots.back() >= 20 && 2 * shots.back() < most) shots.push_back(2 * shots.back());
  shots.push_back(most);
  return shots;
}

bool needs_no_images(const Methods& methods) {
  return std::any_of(methods.begin(), methods.end(),
                     [](const auto& method) { return method->spec().fewest_shots == 0; });
}

AnalysisOutcome by_shots(Workbench& bench) {
  const int64_t most = std::min(bench.options().max_shots, bench.spare_images());
  auto counts = bench.that_fit(shots_up_to(bench.options().max_shots), bench.spare_images(), "shots");
  if (counts.back() < most) counts.push_back(most);
  if (!needs_no_images(bench.inputs().methods))
    counts.erase(std::remove(counts.begin(), counts.end(), 0), counts.end());
  const auto points = accuracy_by_shots(bench.inputs(), bench.episodes(), counts, bench.progress());
  return {series_section("shots", points, bench.episodes()), points, bench.hashes_of(counts, &EpisodeShape::k_shot)};
}

std::string lacks_knowledge(const Workbench& bench) {
  return bench.inputs().data.knowledge == nullptr ? "needs knowledge: --knowledge" : "";
}

AnalysisOutcome by_noise(Workbench& bench) {
  NoiseOptions noise = bench.options().noise;
  if (const Knowledge* knowledge = bench.knowledge())
    noise.embedding_change = [knowledge](const Array& change) { return embedding_change(*knowledge, change); };
  const auto points = accuracy_by_noise(bench.inputs(), bench.episodes(), noise, bench.progress());
  return {series_section("noise", points, bench.episodes()), points, bench.hash_of_episodes()};
}

AnalysisOutcome by_ways(Workbench& bench) {
  const auto& asked = bench.options().ways;
  const auto counts = asked.empty() ? ways_up_to(bench.classes_in(bench.episodes().split)) : asked;
  const auto points = accuracy_by_ways(bench.inputs(), bench.episodes(), counts, bench.progress());
  return {series_section("ways", points, bench.episodes()), points, bench.hashes_of(counts, &EpisodeShape::n_way)};
}

AnalysisOutcome by_queries(Workbench& bench) {
  const int64_t room = bench.spare_images() + bench.shape().n_query - bench.shape().k_shot;
  const auto counts = bench.that_fit(bench.options().queries, room, "queries");
  const auto points = accuracy_by_queries(bench.inputs(), bench.episodes(), counts, bench.progress());
  std::vector<std::string> hashes;
  for (const int64_t count : counts)
    hashes.push_back(episodes_with_queries(bench.features(), bench.episodes(), count).hash(bench.features()));
  return {series_section("queries", points, bench.episodes()), points, fmt::format("{}", fmt::join(hashes, " "))};
}

AnalysisOutcome by_imbalance(Workbench& bench) {
  const auto& alphas = bench.options().alphas;
  const auto points = accuracy_by_imbalance(bench.inputs(), bench.episodes(), alphas, bench.progress());
  return {series_section("imbalance", points, bench.episodes()), points,
          bench.hashes_of(imbalanced_shapes(bench.shape(), alphas))};
}

std::string lacks_fitted(const Workbench& bench) {
  if (bench.fitted().empty()) return "needs methods that are fitted: --fitted";
  const bool enough = base_classes_up_to(bench.classes_in(Split::kBase)).size() > 1;
  return enough ? "" : fmt::format("{} base classes", kTooFew);
}

AnalysisOutcome by_base_classes(Workbench& bench) {
  const auto& asked = bench.options().base_classes;
  const auto counts = asked.empty() ? base_classes_up_to(bench.classes_in(Split::kBase)) : asked;
  const auto points =
      accuracy_by_base_classes(bench.inputs(), {bench.fitted(), bench.episodes(), counts}, bench.progress());
  return {series_section("base-classes", points, bench.episodes()), points, bench.hash_of_episodes()};
}

AnalysisOutcome by_unlabelled(Workbench& bench) {
  const int64_t room = bench.spare_images() - bench.shape().k_shot;
  const auto counts = bench.that_fit(bench.options().unlabelled, room, "unlabelled images");
  const auto points = accuracy_by_unlabelled(bench.inputs(), bench.episodes(), counts, bench.progress());
  const int64_t most = *std::max_element(counts.begin(), counts.end());
  return {series_section("unlabelled", points, bench.episodes()), points,
          bench.hashes_of({most}, &EpisodeShape::unlabelled)};
}

}  // namespace

std::vector<Analysis> series_analyses() {
  return {{"shots", &by_shots},
          {"noise", &by_noise, &lacks_knowledge},
          {"ways", &by_ways},
          {"queries", &by_queries},
          {"imbalance", &by_imbalance},
          {"base-classes", &by_base_classes, &lacks_fitted},
          {"unlabelled", &by_unlabelled}};
}

}  // namespace protocom
