#pragma once
#include <filesystem>
#include <string>

namespace protocom {

/// Returns the engine that open_encoder would use for an encoder's file in this process, without opening it: "ONNX
/// Runtime 1.32.0" or "LibTorch", whether or not that is installed. Throws Error if ONNX Runtime is requested and
/// missing.
std::string engine_name_for(const std::filesystem::path& file);

}  // namespace protocom
