#pragma once
#include <nlohmann/json.hpp>

#include "protocom/train/complete.h"
#include "train/epoch_loop.h"

namespace protocom {

/// Throws UsageError for options out of range, Error for features that cannot be learned from.
void check_completion(const FeatureSet& features, const CompleteOptions& options);

/// A fresh network, and attributes with their statistics (equations 2 and 3) for those that some base image shows.
/// Draws from LibTorch's generator.
CompletionModel untrained_model(const FeatureSet& features, const Knowledge& knowledge, const CompleteOptions& options);

/// What the base features are multiplied with to have the root mean square that is asked for.
double feature_scale(const FeatureSet& features, double rms);

/// Makes a model that was trained on features times `scale` take and give the features themselves: the layers that read
/// a feature absorb the factor, the one that writes a prototype its inverse.
void fold_scale(CompletionModel& model, double scale);

/// What a training follows from: two trainings with equal ones go through the same weights.
nlohmann::json fingerprint(const FeatureSet& features, const Knowledge& knowledge, const CompleteOptions& options);

/// What the loop needs to know; `made_by` is the fingerprint.
EpochLoopOptions loop_options(const CompleteOptions& options, const TrainingFiles& files, nlohmann::json made_by);

}  // namespace protocom
