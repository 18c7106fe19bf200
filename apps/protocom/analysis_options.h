#pragma once
#include <string>
#include <vector>

#include "cli.h"
#include "evaluation_inputs.h"
#include "protocom/report/workbench.h"

namespace protocom::cli {

/// The options of `protocom analyse` and its commands.
struct AnalysisOptions {
  EvaluationFiles files;
  std::string images, out;
  std::vector<std::string> results;
  bool png = false;
  AnalyseOptions analyse;
  std::string split{to_string(analyse.episodes.split)};
};

/// Adds a group of options, which several analyses share.
using AddOptions = void (*)(CLI::App& command, AnalysisOptions& options);

void add_inputs(CLI::App& command, AnalysisOptions& options);
void add_output(CLI::App& command, AnalysisOptions& options);
void add_task(CLI::App& command, AnalysisOptions& options);
void add_methods(CLI::App& command, AnalysisOptions& options);
void add_episodes(CLI::App& command, AnalysisOptions& options);
void add_cosine(CLI::App& command, AnalysisOptions& options);
void add_images(CLI::App& command, AnalysisOptions& options);
void add_ablation(CLI::App& command, AnalysisOptions& options);
void add_shots(CLI::App& command, AnalysisOptions& options);
void add_noise(CLI::App& command, AnalysisOptions& options);
void add_ways(CLI::App& command, AnalysisOptions& options);
void add_queries(CLI::App& command, AnalysisOptions& options);
void add_imbalance(CLI::App& command, AnalysisOptions& options);
void add_base_classes(CLI::App& command, AnalysisOptions& options);
void add_unlabelled(CLI::App& command, AnalysisOptions& options);
void add_distribution(CLI::App& command, AnalysisOptions& options);
void add_single_images(CLI::App& command, AnalysisOptions& options);
void add_nearest(CLI::App& command, AnalysisOptions& options);
void add_method(CLI::App& command, AnalysisOptions& options);
void add_bins(CLI::App& command, AnalysisOptions& options);
void add_few_shots(CLI::App& command, AnalysisOptions& options);
void add_others(CLI::App& command, AnalysisOptions& options);
void add_base_shots(CLI::App& command, AnalysisOptions& options);
void add_mistakes(CLI::App& command, AnalysisOptions& options);

}  // namespace protocom::cli
