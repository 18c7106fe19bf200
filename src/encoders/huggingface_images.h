#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "images/preprocessing.h"

/// The image settings of a Hugging Face folder, and the ONNX file in it.
namespace protocom::huggingface {

/// The file with the settings, and the key under which its text is stored.
inline constexpr const char* kImages = "preprocessor_config.json";

/// Returns the text of preprocessor_config.json, or the value of `image_processor` in processor_config.json; nothing if
/// neither exists. Throws Error.
std::optional<std::string> images_text(const std::filesystem::path& folder);

/// Parses the settings in that text. `{"height", "width"}` squeezes an image into a square, `{"shortest_edge"}` does
/// not; a single number is interpreted as by the processor of that name. Throws Error for unsupported settings.
Preprocessing preprocessing_of(const nlohmann::json& stated);

/// Returns images_text of the folder of an ONNX file, or of the parent of its folder `onnx`. Throws Error.
std::optional<std::string> images_text_beside(const std::filesystem::path& onnx_file);

/// Returns the settings in images_text_beside; size 0: there are none. Throws Error.
Preprocessing preprocessing_beside(const std::filesystem::path& onnx_file);

/// Returns the ONNX file of a folder with config.json and without weights: onnx/model.onnx as in onnx-community's
/// folders, or model.onnx. Empty: none.
std::filesystem::path onnx_of_folder(const std::filesystem::path& folder);

}  // namespace protocom::huggingface
