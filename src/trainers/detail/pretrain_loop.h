#pragma once
#include <nlohmann/json.hpp>

#include "trainers/detail/batch_loader.h"
#include "trainers/detail/epoch_loop.h"
#include "training/pretrain.h"

namespace protocom {

/// Returns what determines a training: two trainings with equal results go through the same weights.
nlohmann::json pretrain_made_by(const PackedImages& images, const PretrainRecipe& options);

/// Returns the method that scores validation and chooses the epoch (chosen_by), as for make_method() and by its label.
std::string validating_head(const PretrainRecipe& options);

/// Returns how to prepare the batches to train on.
BatchLoaderOptions loader_options(const PretrainRecipe& options, c10::Device device, BatchContent content);

/// Returns the options of the loop, except for the steps of an epoch.
EpochLoopOptions loop_options(const PretrainRecipe& options, const TrainingFiles& files, nlohmann::json made_by);

}  // namespace protocom
