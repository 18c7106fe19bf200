#pragma once
#include <string>
#include <vector>

#include "cli.h"
#include "evaluation_inputs.h"
#include "protocom/report/workbench.h"

namespace protocom::cli {

/// The options of `protocom analyse`.
struct AnalysisOptions {
  EvaluationFiles files;
  std::string images, out;
  std::vector<std::string> only;  ///< names of analyses; empty: all that can be made
  std::vector<std::string> results;
  bool png = false;
  AnalyseOptions analyse;
  std::string split{to_string(analyse.episodes.split)};
};

void add_analysis_options(CLI::App& command, AnalysisOptions& options);

}  // namespace protocom::cli
