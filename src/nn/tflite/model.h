#pragma once
#include <filesystem>
#include <string_view>

#include "nn/onnx/model.h"
#include "protocom/core/preprocessing.h"

namespace protocom::tflite {

/// A TensorFlow Lite network as operators of ONNX, channels first; weights that were whole numbers are float32 again.
struct TranslatedModel {
  onnx::Model model;
  /// Of images, where the numbers of its input say it (those of quantised networks do); size 0: nothing does.
  Preprocessing stated = {};
  /// What was pooled over all places last: the image's feature, where the network goes on to class scores; may be
  /// empty.
  std::string pooled = {};
};

/// Whether the bytes begin as a TensorFlow Lite file.
bool looks_like_tflite(std::string_view bytes);

/// Throws Error; an operator that is not read is named.
TranslatedModel read_model(const std::filesystem::path& path);

}  // namespace protocom::tflite
