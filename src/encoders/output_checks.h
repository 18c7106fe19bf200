#pragma once
#include <cstdint>
#include <string>

#include "base/array.h"

/// What is checked of an encoder's output whatever computes it, in the same words for every engine.
namespace protocom {

/// Throws Error: neither a vector, nor maps, nor tokens.
[[noreturn]] void refuse_shape_of_output(const Shape& shape);
/// Throws Error: no feature maps.
[[noreturn]] void refuse_maps_of_output(const std::string& name, const Shape& shape);
/// Throws Error: not a feature for each of the images.
[[noreturn]] void refuse_count_of_output(const Shape& shape, int64_t images);
/// Throws Error for an output that the encoder does not have. `list`: those that it has.
[[noreturn]] void refuse_name_of_output(const std::string& name, const std::string& list);
/// Throws Error where several outputs may be the feature and none is requested.
[[noreturn]] void refuse_choice_of_output(const std::string& list);
/// Throws Error unless all features of the trial image are numbers.
void check_trial_is_finite(bool is_finite);
/// Throws Error unless features of images of `side` pixels are as long as those of `own_side`, its own.
void check_feature_length(int64_t found, int64_t side, int64_t expected, int64_t own_side);

}  // namespace protocom
