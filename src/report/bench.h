#pragma once
#include <optional>
#include <string>
#include <vector>

#include "protocom/report/workbench.h"

namespace protocom {

/// What the analyses of a workbench read, and what several of them share, computed once.
class Bench {
 public:
  /// Throws what Workbench's constructor throws. The references must outlive it.
  Bench(const WorkbenchInputs& inputs, const AnalyseOptions& options, Progress& progress);

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

  /// What every method reached, and on which episodes.
  struct Run {
    EpisodeList list;
    TaskScores scores;
  };
  [[nodiscard]] Run run(const EpisodeShape& shape, int64_t count, const EvaluateOptions& evaluation) const;
  [[nodiscard]] Run run(const EpisodeShape& shape, const Methods& methods) const;  ///< of episodes().count episodes

  /// The same of the episodes asked for, with the answer to every query, which several analyses need.
  const Run& answers();
  /// The label of the method whose answers are looked into: the one named, else the most accurate of those that see
  /// each query alone on these episodes, or of all where none does.
  const std::string& analysed();
  [[nodiscard]] Analysed why_analysed() const;
  /// Those answers of the method analysed.
  const std::vector<Prediction>& predictions();

  /// The hashes of lists of episodes, one behind the other.
  [[nodiscard]] std::string hashes_of(const std::vector<EpisodeOptions>& lists) const;
  /// The same of shapes of the episodes asked for.
  [[nodiscard]] std::string hashes_of(const std::vector<EpisodeShape>& shapes) const;
  /// The same for each value of a series.
  [[nodiscard]] std::string hashes_of(const std::vector<int64_t>& values, int64_t EpisodeShape::*size) const;
  [[nodiscard]] std::string hash_of_episodes() const { return hashes_of(std::vector<EpisodeShape>{shape()}); }

  /// What the smallest class of a split leaves for more than the queries.
  [[nodiscard]] int64_t spare_images(Split split) const;
  [[nodiscard]] int64_t spare_images() const { return spare_images(episodes().split); }
  [[nodiscard]] int64_t classes_in(Split split) const;
  /// Classes of the split beyond those of an episode.
  [[nodiscard]] int64_t other_classes() const { return classes_in(episodes().split) - shape().n_way; }
  /// The numbers of `counts` for which there is room; says so when that is not all.
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
