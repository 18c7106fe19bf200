#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>

namespace protocom {

/// A tensor of zeros whose memory is a file of `folder` (made if need be) that has no name any more: it may be larger
/// than the memory, and nothing stays behind however the process ends. Throws Error when the folder lacks the room.
at::Tensor scratch_tensor(const std::filesystem::path& folder, at::IntArrayRef shape, at::ScalarType dtype);

}  // namespace protocom
