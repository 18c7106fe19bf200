#pragma once
#include <nlohmann/json.hpp>

#include "train/detail/batch_loader.h"
#include "train/detail/epoch_loop.h"
#include "train/pretrain.h"

namespace protocom {

/// Throws UsageError for options out of range.
void check_pretrain(const PretrainRecipe& options);

/// The learning rate where none is stated: kPretrainRate for each 128 images of a batch.
double usual_rate(const PretrainRecipe& options);

/// The options with the images' size and a stated learning rate.
PretrainRecipe resolved(PretrainRecipe options, const PackedImages& images);

/// Throws UsageError for images that cannot grow so; `options` are resolved.
void check_growth(const PretrainRecipe& options);

/// What a training follows from: two trainings with equal ones go through the same weights.
nlohmann::json pretrain_made_by(const PackedImages& images, const PretrainRecipe& options);

/// The method that scores validation and chosen_by the epoch, as make_method() takes it and by its label.
std::string validating_head(const PretrainRecipe& options);

/// How the batches are prepared that it trains on.
BatchLoaderOptions loader_options(const PretrainRecipe& options, c10::Device device, BatchContent content);

/// What the loop needs to know, but for the steps of an epoch.
EpochLoopOptions loop_options(const PretrainRecipe& options, const TrainingFiles& files, nlohmann::json made_by);

}  // namespace protocom
