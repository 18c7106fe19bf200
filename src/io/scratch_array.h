#pragma once
#include <filesystem>

#include "base/array.h"

namespace protocom {

/// An array of zeros whose memory is a file of `folder` (made if need be) that has no name any more: it may be larger
/// than the memory, and nothing stays behind however the process ends. Throws Error when the folder lacks the room.
Array scratch_array(const std::filesystem::path& folder, Shape shape, NumberType type);

}  // namespace protocom
