#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/log.h"
#include "datasets/packed_images.h"
#include "datasets/split.h"
#include "encoders/extract.h"
#include "eval/evaluate.h"
#include "networks/backbone.h"
#include "training/validation.h"

namespace protocom {

/// Returns `data`, PackedImages or FeatureSet, with some base classes as val classes (leave_out_validation, logged) if
/// validation is requested and there are no val classes; otherwise unchanged. Tensors are shared.
template <typename Data>
Data with_validation(Data data, const ValidationOptions& options) {
  const int64_t left_out = options.episodes > 0 ? leave_out_validation(data.class_split) : 0;
  if (left_out > 0) {
    logger().warn(
        "no val classes: validating on {} of the base classes, which are not trained on (--val-episodes 0 trains on "
        "all)",
        left_out);
  }
  return data;
}

/// What classifies the queries of validation episodes in addition to their features.
struct ValidationModel {
  const CompletionModel* model = nullptr;   ///< on the CPU; null: only "mean" is scored
  const KnowledgeTable* classes = nullptr;  ///< in the order of the features' classes
  std::string head = {};                    ///< one more method to score, if it is not one of the paper's rows
};

/// A fixed set of few-shot episodes of the val classes, for comparing the epochs of a training.
class Validation {
 public:
  /// Draws the episodes from the val classes of `images`, whose features may be undefined yet. Throws UsageError for
  /// options out of range.
  Validation(const FeatureSet& images, const ValidationOptions& options, uint64_t seed);

  /// Returns whether episodes are requested and there are classes for them.
  [[nodiscard]] bool possible() const { return episodes_.has_value(); }
  /// Returns the number of epochs between validations; 0 if it is not possible.
  [[nodiscard]] int64_t every() const { return possible() ? every_ : 0; }

  /// Scores the paper's rows and the head on the features of the images given before.
  [[nodiscard]] std::vector<MethodScores> run(const FeatureSet& features, const ValidationModel& model,
                                              Progress& progress) const;

 private:
  int64_t every_;
  std::optional<EpisodeList> episodes_;
};

/// Validation on images, with the features that a backbone computes at the moment.
class ImageValidation {
 public:
  ImageValidation(const PackedImages& images, const ValidationOptions& options, uint64_t seed);

  [[nodiscard]] int64_t every() const { return validation_.every(); }
  /// Puts the backbone into evaluation mode; with several processes its running statistics are set to those of process
  /// 0.
  [[nodiscard]] std::vector<MethodScores> run(Backbone& backbone, const ExtractOptions& extract,
                                              const ValidationModel& model, Progress& progress) const;

 private:
  PackedImages images_;
  Validation validation_;
};

/// Returns the mean accuracy of some methods, by their labels, percent. Throws Error if one was not scored.
double mean_accuracy(const std::vector<MethodScores>& scores, const std::vector<std::string>& methods);

/// Returns {"mean": {"accuracy": percent, "ci95": percent}, ...} for a log.
nlohmann::json accuracies_json(const std::vector<MethodScores>& scores);

}  // namespace protocom
