#pragma once
#include <filesystem>

namespace protocom {

/// The encoder that a path names: of a folder without config.json its one file of a kind that encoders are saved as
/// (ONNX, TensorFlow Lite, TorchScript, weights); anything else as it is. Throws Error for a folder with none or
/// several.
std::filesystem::path encoder_at(const std::filesystem::path& path);

}  // namespace protocom
