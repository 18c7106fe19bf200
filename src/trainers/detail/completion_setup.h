#pragma once
#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>

#include "fewshot/paper/completion_model.h"
#include "trainers/detail/epoch_loop.h"
#include "training/complete.h"

namespace protocom {

/// Throws UsageError for options out of range, Error for features that cannot be learned from.
void check_completion(const FeatureSet& features, const CompleteRecipe& options);

/// A fresh network, and attributes with their statistics (equations 2 and 3) for those that some base image shows.
/// Draws from LibTorch's generator.
CompletionModel untrained_model(const FeatureSet& features, const Knowledge& knowledge, const CompleteRecipe& options);

/// Training sees (x - centre) * scale.
struct FeatureScaling {
  at::Tensor centre;  ///< float32 [d]; undefined: 0
  double scale = 1;

  [[nodiscard]] at::Tensor apply(const at::Tensor& features) const;
};

/// The scaling by which the base features have the root mean square that is requested, less their mean where the
/// centring requires it. Throws Error when nothing is left of them.
FeatureScaling feature_scaling(const FeatureSet& features, const CompleteRecipe& options);

/// Makes a model that was trained on scaled features take and give the features themselves: the layers that read a
/// feature absorb factor and centre, the one that writes a prototype their inverse.
void fold(CompletionModel& model, const FeatureScaling& scaling);

/// A model with copies of the weights and statistics, folded.
CompletionModel folded_copy(const CompletionModel& model, const FeatureScaling& scaling);

/// What a training follows from: two trainings with equal ones go through the same weights.
nlohmann::json fingerprint(const FeatureSet& features, const Knowledge& knowledge, const CompleteRecipe& options);

/// What the loop needs to know; `made_by` is the fingerprint.
EpochLoopOptions loop_options(const CompleteRecipe& options, const TrainingFiles& files, nlohmann::json made_by);

}  // namespace protocom
