#pragma once
#include <filesystem>

#include "encoders/encoder.h"

namespace protocom {

/// Converts an encoder of another format, which open_encoder runs on LibTorch, to an ONNX file in `folder`, with its
/// weights in another file beside it: from images float32 [n, 3, h, w] with RGB in [0, 1] to features [n, d]. The
/// network's computation for a batch is recorded and written in operators of set 17. The file takes one image at a time
/// if the network does. Throws Error for a TorchScript file, which is a program, for an unsupported operator, and if
/// the features of both differ.
std::filesystem::path encoder_as_onnx(const std::filesystem::path& path, const EncoderFileOptions& asked,
                                      const std::filesystem::path& folder);

}  // namespace protocom
