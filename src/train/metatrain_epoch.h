#pragma once
#include <nlohmann/json.hpp>

#include "protocom/train/metatrain.h"
#include "train/epoch_loop.h"

namespace protocom {

/// The record of an epoch that ended with this scale (gamma).
MetatrainEpoch epoch_of(const EpochEnd& end, double scale);

/// An epoch as it stands in the log and in checkpoints, and back.
nlohmann::json to_json(const MetatrainEpoch& epoch);
MetatrainEpoch epoch_from(const nlohmann::json& line);

}  // namespace protocom
