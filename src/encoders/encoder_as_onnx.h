#pragma once
#include <filesystem>

#include "encoders/encoder.h"

namespace protocom {

/// Writes an encoder of another format, which open_encoder runs on LibTorch, as an ONNX file in `folder`, with its
/// weights in another one beside it: from images float32 [n, 3, h, w] with RGB in [0, 1] to features [n, d]: what the
/// network computes for a batch is recorded and written in operators of set 17. The file takes one image at a time
/// where the network does. Throws Error for a TorchScript file, which is a program, for an operator that is not
/// written, and where the features of both differ.
std::filesystem::path encoder_as_onnx(const std::filesystem::path& path, const EncoderFileOptions& asked,
                                      const std::filesystem::path& folder);

}  // namespace protocom
