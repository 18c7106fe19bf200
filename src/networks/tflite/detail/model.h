#pragma once
#include <filesystem>
#include <string_view>

#include "networks/onnx/detail/model.h"

namespace protocom::tflite {

/// Whether the bytes begin as a TensorFlow Lite file.
bool looks_like_tflite(std::string_view bytes);

/// Reads a TensorFlow Lite network as operators of ONNX, channels first; quantised weights become float32. A quantised
/// network states its preprocessing by the quantisation of its input. Its feature is the value last pooled over all
/// positions, if the network continues to class scores. Throws Error; an unsupported operator is named.
onnx::Model read_model(const std::filesystem::path& path);

}  // namespace protocom::tflite
