#pragma once
#include <optional>
#include <vector>

#include "protocom/train/metatrain.h"

namespace protocom {

/// Validation episodes of a joint meta-training, on the features of the backbone as it is at the moment.
class MetaValidation {
 public:
  /// `options` must outlive it. Warns when episodes are asked for and there are no val classes.
  MetaValidation(const PackedImages& images, const MetatrainOptions& options);

  /// Whether there are val classes, and episodes are asked for.
  [[nodiscard]] bool possible() const { return episodes_.has_value(); }

  /// The accuracy of the paper's rows, of "mean" alone without a model, and of the head. The model must be on the CPU.
  [[nodiscard]] std::vector<ValidationRow> run(Backbone& backbone, const CompletionModel* model,
                                               const ClassKnowledge* classes) const;

 private:
  const MetatrainOptions& options_;
  PackedImages images_;
  std::optional<EpisodeList> episodes_;
};

}  // namespace protocom
