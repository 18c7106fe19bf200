#pragma once
#include <cstdint>
#include <string>

#include "base/array.h"

/// Checks of an encoder's output, with the same messages for every engine.
namespace protocom {

/// Throws Error: the output is neither a vector, nor maps, nor tokens.
[[noreturn]] void refuse_shape_of_output(const Shape& shape);
/// Throws Error: the output has no feature maps.
[[noreturn]] void refuse_maps_of_output(const std::string& name, const Shape& shape);
/// Throws Error: the output does not have one feature per image.
[[noreturn]] void refuse_count_of_output(const Shape& shape, int64_t images);
/// Throws Error for a missing output. `list`: the existing ones.
[[noreturn]] void refuse_name_of_output(const std::string& name, const std::string& list);
/// Throws Error if several outputs may be the feature and none is requested.
[[noreturn]] void refuse_choice_of_output(const std::string& list);
/// Throws Error unless all features of the trial image are finite.
void check_trial_is_finite(bool is_finite);
/// Throws Error unless features of images of `side` pixels are as long as those of `own_side`, the encoder's own.
void check_feature_length(int64_t found, int64_t side, int64_t expected, int64_t own_side);

}  // namespace protocom
