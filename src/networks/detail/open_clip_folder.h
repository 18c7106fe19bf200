#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "networks/detail/huggingface_backbone.h"

namespace protocom {

/// Whether a folder was written by open_clip, and is not also one of `transformers`.
bool is_open_clip_folder(const std::filesystem::path& folder);
/// Reads its open_clip_config.json and open_clip_model.safetensors. Throws Error.
HuggingFaceFiles read_open_clip_folder(const std::filesystem::path& folder);
/// Whether a safetensors file was made from such a folder.
bool is_open_clip_file(const std::map<std::string, std::string>& metadata);
/// Makes its image tower with its stated preprocessing, unless `asked` states one. Throws Error.
std::unique_ptr<Backbone> open_clip_backbone(const std::filesystem::path& path, const HuggingFaceFiles& files,
                                             const Preprocessing& asked);

}  // namespace protocom
