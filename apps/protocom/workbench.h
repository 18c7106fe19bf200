#pragma once
#include <memory>
#include <string>
#include <vector>

#include "protocom/report/analysis_sections.h"

namespace protocom::cli {

/// The options of `protocom analyse`; each analysis uses some of them.
struct AnalyseOptions {
  std::string features, knowledge, model, images, class_split, out;
  std::string split = "novel";
  std::string method = "gauss-fusion";
  std::vector<std::string> results, classes;
  bool png = false;
  AnalysisEpisodes episodes;
  int64_t cosine_episodes = 1000;
  std::vector<int64_t> shots = {1, 5};
  int64_t max_shots = 10;
  std::vector<int64_t> ways;
  std::vector<int64_t> unlabelled = {0, 1, 2, 5, 10, 20, 30, 50};
  NoiseOptions noise;
  DistributionOptions distribution;
  int64_t shown_classes = 5;
  int64_t neighbours = 5;
  int64_t window = 50;
  int64_t bins = 15;
  int64_t mistakes = 8;
};

/// An analysis' numbers and how they are shown.
struct AnalysisOutcome {
  Section section;
  nlohmann::json data;
  std::string episodes_hash = {};  ///< of its lists of episodes
};

/// Everything the analyses read, and what several of them share, so that it is computed once.
class Workbench {
 public:
  /// Reads features, knowledge and model. Throws Error when they do not fit one another.
  explicit Workbench(const AnalyseOptions& options);
  ~Workbench();

  /// The analysis of that name: one of section_names() but "tables".
  AnalysisOutcome run(const std::string& name);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// "tables": of the results given.
AnalysisOutcome compare_results(const AnalyseOptions& options);

}  // namespace protocom::cli
