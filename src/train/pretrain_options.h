#pragma once
#include <nlohmann/json.hpp>

#include "protocom/train/pretrain.h"

namespace protocom {

/// Throws UsageError for options out of range.
void check_pretrain(const PretrainOptions& options);

/// What a training follows from: two trainings with equal ones go through the same weights.
nlohmann::json pretrain_made_by(const PackedImages& images, const PretrainOptions& options);

}  // namespace protocom
