#pragma once
#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>

#include "fewshot/paper/completion_model.h"
#include "trainers/detail/epoch_loop.h"
#include "training/complete.h"

namespace protocom {

/// Throws UsageError for options out of range, Error for features that cannot be learned from.
void check_completion(const FeatureSet& features, const CompleteRecipe& options);

/// Makes a fresh network, and the attributes that some base image shows with their statistics (equations 2 and 3).
/// Draws from LibTorch's generator.
CompletionModel untrained_model(const FeatureSet& features, const Knowledge& knowledge, const CompleteRecipe& options);

/// Scaling of the features in training: (x - centre) * scale.
struct FeatureScaling {
  at::Tensor centre;  ///< float32 [d]; undefined: 0
  double scale = 1;

  [[nodiscard]] at::Tensor apply(const at::Tensor& features) const;
};

/// Returns the scaling that gives the base features the requested root mean square, after subtracting their mean if the
/// centring requires it. Throws Error when nothing is left of them.
FeatureScaling feature_scaling(const FeatureSet& features, const CompleteRecipe& options);

/// Makes a model that was trained on scaled features take and return raw features: the layers that read a feature
/// absorb factor and centre, the one that writes a prototype their inverse.
void fold(CompletionModel& model, const FeatureScaling& scaling);

/// Returns a folded copy of a model, with weights and statistics of its own.
CompletionModel folded_copy(const CompletionModel& model, const FeatureScaling& scaling);

/// Returns what determines a training: two trainings with equal fingerprints go through the same weights.
nlohmann::json fingerprint(const FeatureSet& features, const Knowledge& knowledge, const CompleteRecipe& options);

/// Returns the options of the loop; `made_by` is the fingerprint.
EpochLoopOptions loop_options(const CompleteRecipe& options, const TrainingFiles& files, nlohmann::json made_by);

}  // namespace protocom
