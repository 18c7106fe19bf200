#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "fewshot/fitted_method.h"
#include "report/analysis_sections.h"

namespace protocom {

/// Settings of the analyses; each uses some of them.
struct AnalyseOptions {
  std::vector<std::string> methods;  ///< as for make_method; empty: default_methods()
  std::string method;  ///< whose single answers are analysed; empty: the most accurate that sees each query alone
  std::string baseline = "mean";  ///< of gains
  EpisodeOptions episodes;
  int64_t cosine_episodes = 1000;
  std::vector<int64_t> shots = {1, 5};                     ///< of the ablation
  int64_t max_shots = 20;                                  ///< up to which 0, 1, 2, 3, 5, 10, 20 are used
  std::vector<int64_t> ways;                               ///< empty: from 5 to all classes
  std::vector<int64_t> queries = {0, 1, 2, 3, 5, 10, 15};  ///< per class; 0: a single query
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

/// Inputs of the analyses; the references must outlive the workbench.
struct WorkbenchInputs {
  EvaluateInputs data;                   ///< without a model some analyses are not possible
  const Knowledge* knowledge = nullptr;  ///< for the classes' titles, and to be corrupted in "noise"; may be null
  PictureSource pictures = {};
  std::vector<FittedMethod> fitted = {};  ///< for methods that need fitting
};

/// Numbers and presentation of an analysis.
struct AnalysisOutcome {
  Section section;
  nlohmann::json data;
  std::string episodes_hash = {};  ///< of its lists of episodes
};

/// The inputs of all analyses, and the results that several of them share, so that each is computed once.
class Workbench {
 public:
  /// The references must outlive it. Throws UsageError for methods that are unknown or lack what they need, Error when
  /// features and model do not fit one another: all options are checked before the first analysis.
  Workbench(const WorkbenchInputs& inputs, const AnalyseOptions& options, Progress& progress);

  /// Returns why the analysis is not possible with these inputs ("needs a completion model"); empty if it is.
  [[nodiscard]] std::string obstacle(const std::string& name) const;
  /// Runs the analysis of that name: one of section_names() except "tables". Throws UsageError for one that has an
  /// obstacle.
  AnalysisOutcome analyse(const std::string& name);

  [[nodiscard]] const AnalyseOptions& options() const { return options_; }
  [[nodiscard]] const EpisodeOptions& episodes() const { return options_.episodes; }
  [[nodiscard]] const EpisodeShape& shape() const { return options_.episodes.shape; }
  [[nodiscard]] const FeatureSet& features() const { return features_; }
  [[nodiscard]] const AnalysisInputs& inputs() const { return inputs_; }
  [[nodiscard]] const Knowledge* knowledge() const { return knowledge_; }
  [[nodiscard]] const PictureSource& pictures() const { return pictures_; }
  [[nodiscard]] const std::vector<FittedMethod>& fitted() const { return fitted_; }
  [[nodiscard]] Progress& progress() const { return progress_; }

  [[nodiscard]] std::string title_of(const std::string& class_name) const;
  [[nodiscard]] TitleSource titles() const;

  /// Scores of every method, and the episodes they were measured on.
  struct Run {
    EpisodeList list;
    TaskScores scores;
  };
  [[nodiscard]] Run run(const EpisodeShape& shape, int64_t count, const ScoringOptions& evaluation) const;
  [[nodiscard]] Run run(const EpisodeShape& shape, const Methods& methods) const;  ///< of episodes().count episodes

  /// Returns the run of the requested episodes with the answer to every query, which several analyses need.
  const Run& answers();
  /// Returns the label of the method whose answers are analysed: the one named, else the most accurate of those that
  /// see each query alone on these episodes, or of all if none does.
  const std::string& analysed();
  [[nodiscard]] Analysed why_analysed() const;
  /// Returns the answers of that method.
  const std::vector<Prediction>& predictions();

  /// Returns the concatenated hashes of lists of episodes.
  [[nodiscard]] std::string hashes_of(const std::vector<EpisodeOptions>& lists) const;
  /// Returns the hashes for shapes of the requested episodes.
  [[nodiscard]] std::string hashes_of(const std::vector<EpisodeShape>& shapes) const;
  /// Returns the hashes for each value of a series.
  [[nodiscard]] std::string hashes_of(const std::vector<int64_t>& values, int64_t EpisodeShape::*size) const;
  [[nodiscard]] std::string hash_of_episodes() const { return hashes_of(std::vector<EpisodeShape>{shape()}); }

  /// Returns how many images the smallest class of a split has beyond the queries.
  [[nodiscard]] int64_t spare_images(Split split) const;
  [[nodiscard]] int64_t spare_images() const { return spare_images(episodes().split); }
  [[nodiscard]] int64_t classes_in(Split split) const;
  /// Returns the number of classes of the split beyond those of an episode.
  [[nodiscard]] int64_t other_classes() const { return classes_in(episodes().split) - shape().n_way; }
  /// Returns the numbers of `counts` that fit into `room`; logs if some do not.
  [[nodiscard]] std::vector<int64_t> that_fit(std::vector<int64_t> counts, int64_t room, const char* what) const;

 private:
  void check_model() const;
  void choose_analysed();

  const AnalyseOptions& options_;
  const FeatureSet& features_;
  const Knowledge* knowledge_;
  PictureSource pictures_;
  std::vector<FittedMethod> fitted_;
  AnalysisInputs inputs_;
  Methods extra_;         // the one analysed, if it is not among the others
  std::string analysed_;  // "" until it is known
  Progress& progress_;
  std::optional<Run> answers_;
};

}  // namespace protocom
