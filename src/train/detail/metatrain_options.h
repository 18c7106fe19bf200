#pragma once
#include <nlohmann/json.hpp>

#include "train/detail/epoch_loop.h"
#include "train/metatrain.h"

namespace protocom {

/// Throws for options out of range and inputs that do not fit them (see metatrain()).
void check_metatrain(const MetatrainInputs& inputs, const MetatrainOptions& options);

/// What the weights follow from: options and the inputs' hashes.
nlohmann::json metatrain_made_by(const PackedImages& images, const MetatrainOptions& options,
                                 const Provenance& provenance);

/// What the loop needs to know.
EpochLoopOptions loop_options(const MetatrainOptions& options, const MetatrainFiles& files, nlohmann::json made_by);

}  // namespace protocom
