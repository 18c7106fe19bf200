#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "images/preprocessing.h"

/// The image settings of a Hugging Face folder, and where in it an ONNX file lies.
namespace protocom::huggingface {

/// The file with the settings, and the key under which texts of it are kept.
inline constexpr const char* kImages = "preprocessor_config.json";

/// The text of preprocessor_config.json, or what processor_config.json has under `image_processor`; none if neither
/// is there. Throws Error.
std::optional<std::string> images_text(const std::filesystem::path& folder);

/// The settings in that text. `{"height", "width"}` squeezes an image into a square, `{"shortest_edge"}` does not; a
/// single number is what the processor of that name takes it for. Throws Error for what cannot be done here.
Preprocessing preprocessing_of(const nlohmann::json& stated);

/// images_text of the folder of an ONNX file, or of the one above its folder `onnx`. Throws Error.
std::optional<std::string> images_text_beside(const std::filesystem::path& onnx_file);

/// The settings in images_text_beside; size 0: there are none. Throws Error.
Preprocessing preprocessing_beside(const std::filesystem::path& onnx_file);

/// Of a folder with config.json and without weights: onnx/model.onnx as onnx-community's folders have it, or
/// model.onnx. Empty: none.
std::filesystem::path onnx_of_folder(const std::filesystem::path& folder);

}  // namespace protocom::huggingface
