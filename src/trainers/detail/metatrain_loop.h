#pragma once
#include <nlohmann/json.hpp>

#include "trainers/detail/epoch_loop.h"
#include "training/metatrain.h"

namespace protocom {

/// Returns what determines the weights: options and the inputs' hashes.
nlohmann::json metatrain_made_by(const PackedImages& images, const MetatrainOptions& options,
                                 const Provenance& provenance);

/// Returns the options of the loop.
EpochLoopOptions loop_options(const MetatrainOptions& options, const MetatrainFiles& files, nlohmann::json made_by);

}  // namespace protocom
