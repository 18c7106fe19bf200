#pragma once
#include <nlohmann/json.hpp>

#include "trainers/detail/batch_loader.h"
#include "trainers/detail/epoch_loop.h"
#include "training/pretrain.h"

namespace protocom {

/// What a training follows from: two trainings with equal ones go through the same weights.
nlohmann::json pretrain_made_by(const PackedImages& images, const PretrainRecipe& options);

/// The method that scores validation and chosen_by the epoch, as make_method() takes it and by its label.
std::string validating_head(const PretrainRecipe& options);

/// How the batches are prepared that it trains on.
BatchLoaderOptions loader_options(const PretrainRecipe& options, c10::Device device, BatchContent content);

/// What the loop needs to know, but for the steps of an epoch.
EpochLoopOptions loop_options(const PretrainRecipe& options, const TrainingFiles& files, nlohmann::json made_by);

}  // namespace protocom
