#pragma once
#include <memory>
#include <string>
#include <vector>

#include "protocom/core/progress.h"
#include "protocom/fewshot/fitted_method.h"
#include "protocom/report/analysis_sections.h"

namespace protocom {

/// Settings of the analyses; each uses some of them.
struct AnalyseOptions {
  std::vector<std::string> methods;  ///< as make_method takes them; empty: default_methods()
  std::string method;  ///< whose single answers are analysed; empty: the most accurate that sees each query alone
  std::string baseline = "mean";  ///< what gains are over
  EpisodeOptions episodes;
  int64_t cosine_episodes = 1000;
  std::vector<int64_t> shots = {1, 5};                     ///< of the ablation
  int64_t max_shots = 20;                                  ///< 0, 1, 2, 3, 5, 10, 20 as far as that
  std::vector<int64_t> ways;                               ///< empty: from 5 to all classes
  std::vector<int64_t> queries = {0, 1, 2, 3, 5, 10, 15};  ///< a class; 0: a single one
  std::vector<double> alphas = {2, 0.5, 0.1};              ///< of Dirichlet distributions of queries
  std::vector<int64_t> base_classes;                       ///< empty: from 8 to all
  std::vector<int64_t> unlabelled = {0, 1, 2, 5, 10, 20, 30, 50};
  NoiseOptions noise;
  DistributionOptions distribution;
  std::vector<std::string> classes;  ///< of figure 4; empty: `shown_classes` random ones
  int64_t shown_classes = 5;
  int64_t neighbours = 5;
  int64_t window = kSingleImageWindow;
  int64_t bins = kCalibrationBins;
  int64_t mistakes = 8;
  std::vector<int64_t> few_shots = {0, 1, 5};  ///< of the analyses of classes not given, and of novel with base classes
  int64_t others = OpenSetOptions().others;
  int64_t base_shots = GeneralisedOptions().base_shots;
};

/// What the analyses read; the references must outlive the workbench.
struct WorkbenchInputs {
  EvaluateInputs data;                   ///< without a model some analyses are not possible
  const Knowledge* knowledge = nullptr;  ///< for the classes' titles, and what is noisy in "noise"; may be null
  PictureSource pictures = {};
  std::vector<FittedMethod> fitted = {};  ///< of methods that need fitting
};

/// An analysis' numbers and how they are shown.
struct AnalysisOutcome {
  Section section;
  nlohmann::json data;
  std::string episodes_hash = {};  ///< of its lists of episodes
};

class Bench;

/// Everything the analyses read, and what several of them share, so that it is computed once.
class Workbench {
 public:
  /// Throws UsageError for methods that are unknown or need what is not here, Error when features and model do not fit
  /// one another: all options are checked before the first analysis.
  Workbench(const WorkbenchInputs& inputs, const AnalyseOptions& options, Progress& progress);
  ~Workbench();

  /// Why the analysis cannot be made of what is here ("needs a completion model"); empty where it can.
  [[nodiscard]] std::string obstacle(const std::string& name) const;

  /// The analysis of that name: one of section_names() but "tables". Throws UsageError for one that has an obstacle.
  AnalysisOutcome run(const std::string& name);

 private:
  std::unique_ptr<Bench> bench_;
};

}  // namespace protocom
