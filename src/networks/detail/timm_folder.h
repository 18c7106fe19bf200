#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "networks/detail/huggingface_backbone.h"

namespace protocom {

/// Whether a config.json is timm's, as in its folders beside model.safetensors.
bool is_timm_config(const std::string& text);
/// Reads the folder's config.json and model.safetensors. Throws Error.
HuggingFaceFiles read_timm_folder(const std::filesystem::path& folder);
/// Whether a safetensors file was made from such a folder.
bool is_timm_file(const std::map<std::string, std::string>& metadata);
/// Returns the preprocessing from input_size, crop_pct, mean and std of its `pretrained_cfg`. Throws Error for
/// unsupported values.
Preprocessing timm_preprocessing(const HuggingFaceFiles& files);
/// Returns its config.json.
nlohmann::json timm_config_of(const HuggingFaceFiles& files);

}  // namespace protocom
