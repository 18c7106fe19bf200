#pragma once
#include <filesystem>
#include <string_view>

#include "networks/onnx/detail/model.h"

namespace protocom::tflite {

/// Whether the bytes begin as a TensorFlow Lite file.
bool looks_like_tflite(std::string_view bytes);

/// A TensorFlow Lite network as operators of ONNX, channels first; weights that were whole numbers are float32 again. A
/// network that is quantised states its images by the numbers of its input. Its feature is what was pooled over all
/// positions last, if the network continues to class scores. Throws Error; an unsupported operator is named.
onnx::Model read_model(const std::filesystem::path& path);

}  // namespace protocom::tflite
