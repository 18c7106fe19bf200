#pragma once
#include "training/pretrain.h"

namespace protocom {

/// Throws UsageError for options out of range.
void check_pretrain(const PretrainRecipe& options);

/// The options with the images' size and a stated learning rate.
PretrainRecipe resolved(PretrainRecipe options, const PackedImages& images);

/// Throws UsageError for images that cannot grow so; `options` are resolved.
void check_growth(const PretrainRecipe& options);

}  // namespace protocom
