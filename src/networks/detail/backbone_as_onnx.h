#pragma once
#include <filesystem>

#include "encoders/encoder.h"

namespace protocom {

/// Implements encoder_as_onnx for the encoders of LibTorch. Throws Error.
std::filesystem::path backbone_as_onnx(const std::filesystem::path& path, const EncoderFileOptions& asked,
                                       const std::filesystem::path& folder);

}  // namespace protocom
