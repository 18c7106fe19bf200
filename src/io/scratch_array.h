#pragma once
#include <filesystem>

#include "base/array.h"

namespace protocom {

/// Returns an array of zeros whose memory is an unnamed file in `folder` (created if necessary): it may exceed the
/// memory, and nothing is left however the process ends. Throws Error if the folder lacks the space.
Array scratch_array(const std::filesystem::path& folder, Shape shape, NumberType type);

}  // namespace protocom
