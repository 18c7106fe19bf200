#pragma once
#include <nlohmann/json.hpp>

#include "protocom/train/metatrain.h"

namespace protocom {

/// The accuracy of a method, percent; -1 when it is not among the rows.
double accuracy_of(const std::vector<ValidationRow>& rows, const std::string& method);

/// An epoch as it stands in the log and in checkpoints, and back.
nlohmann::json to_json(const MetatrainEpoch& epoch);
MetatrainEpoch epoch_from(const nlohmann::json& line);

}  // namespace protocom
