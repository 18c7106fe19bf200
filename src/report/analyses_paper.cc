#include <algorithm>

#include "eval/results_json.h"
#include "report/detail/analyses.h"

namespace protocom {
namespace {

std::string lacks_model(const Workbench& bench) {
  return bench.inputs().data.model == nullptr ? "needs a completion model: --model" : "";
}

std::string lacks_paper_rows(const Workbench& bench) {
  if (std::string reason = lacks_model(bench); !reason.empty()) return reason;
  const auto labels = labels_of(bench.inputs().methods);
  const auto rows = paper_rows();
  const bool all = std::all_of(rows.begin(), rows.end(), [&](const auto& row) {
    return std::find(labels.begin(), labels.end(), row) != labels.end();
  });
  return all ? "" : fmt::format("is about {}: name all of them", fmt::join(rows, ", "));
}

/// Table 4.
AnalysisOutcome ablation(Workbench& bench) {
  const auto& shots = bench.options().shots;
  std::vector<TaskScores> tasks;
  nlohmann::json data = nlohmann::json::array();
  for (const int64_t k : shots) {
    EpisodeShape shape = bench.shape();
    shape.k_shot = k;
    tasks.push_back(bench.run(shape, make_methods(paper_rows())).scores);
    for (auto& row : results_json(shape, tasks.back().methods)) data.push_back(std::move(row));
  }
  return {ablation_section(tasks, bench.episodes()), data, bench.hashes_of(shots, &EpisodeShape::k_shot)};
}

/// Table 3.
AnalysisOutcome cosine(Workbench& bench) {
  EpisodeOptions many = bench.episodes();
  many.count = bench.options().cosine_episodes;
  const Workbench::Run run = bench.run(many.shape, many.count, {bench.inputs().methods});
  return {cosine_section(run.scores, many), results_json(many.shape, run.scores.methods),
          run.list.hash(bench.features())};
}

AnalysisOutcome attention(Workbench& bench) {
  const auto classes = analyse_attention(bench.inputs(), bench.episodes().split, *bench.knowledge());
  return {attention_section(classes), classes};
}

AnalysisOutcome episodes(Workbench& bench) {
  const Workbench::Run run = bench.run(bench.shape(), make_methods(paper_rows()));
  const auto analysis = analyse_episodes(bench.features(), run.list, run.scores.methods);
  return {episodes_section(analysis, bench.titles(), bench.episodes()), analysis, run.list.hash(bench.features())};
}

}  // namespace

std::vector<Analysis> paper_analyses() {
  return {{"ablation", &ablation, &lacks_paper_rows},
          {"cosine", &cosine},
          {"attention", &attention, &lacks_model},
          {"episodes", &episodes, &lacks_paper_rows}};
}

}  // namespace protocom
