#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "networks/detail/huggingface_backbone.h"

namespace protocom {

/// Whether a folder is one that open_clip wrote, and not one of `transformers` as well.
bool is_open_clip_folder(const std::filesystem::path& folder);
/// Its open_clip_config.json and open_clip_model.safetensors. Throws Error.
HuggingFaceFiles read_open_clip_folder(const std::filesystem::path& folder);
/// Whether a safetensors file was made of such a folder.
bool is_open_clip_file(const std::map<std::string, std::string>& metadata);
/// Its image tower with the images that it states, unless `asked` states some. Throws Error.
std::unique_ptr<Backbone> open_clip_backbone(const std::filesystem::path& path, const HuggingFaceFiles& files,
                                             const Preprocessing& asked);

}  // namespace protocom
