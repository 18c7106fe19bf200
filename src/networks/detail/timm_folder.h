#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "networks/detail/huggingface_backbone.h"

namespace protocom {

/// Whether a config.json is timm's, as its folders have it beside model.safetensors.
bool is_timm_config(const std::string& text);
/// The folder's config.json and model.safetensors. Throws Error.
HuggingFaceFiles read_timm_folder(const std::filesystem::path& folder);
/// Whether a safetensors file was made of such a folder.
bool is_timm_file(const std::map<std::string, std::string>& metadata);
/// input_size, crop_pct, mean and std of its `pretrained_cfg`. Throws Error for what cannot be done here.
Preprocessing timm_preprocessing(const HuggingFaceFiles& files);
/// Its config.json.
nlohmann::json timm_config_of(const HuggingFaceFiles& files);

}  // namespace protocom
