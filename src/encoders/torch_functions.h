#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/array.h"
#include "base/plugin.h"
#include "encoders/encoder.h"
#include "encoders/sentence_modules.h"
#include "encoders/text_tower.h"

/// Functions for encoders that need LibTorch, provided by its plug-in.
namespace protocom {

/// See open_encoder.
extern PluginFunction<std::unique_ptr<Encoder>(const std::filesystem::path& path, const EncoderFileOptions& asked)>
    torch_open_encoder;

/// See as_one_file.
extern PluginFunction<std::filesystem::path(const std::filesystem::path& path, const EncoderFileOptions& asked,
                                            const std::filesystem::path& folder)>
    torch_as_one_file;

/// See encoder_as_onnx.
extern PluginFunction<std::filesystem::path(const std::filesystem::path& path, const EncoderFileOptions& asked,
                                            const std::filesystem::path& folder)>
    torch_as_onnx;

/// Makes the tower of a family ("bert", "mpnet", "clip", "siglip") from the text part of config.json, the tensors of
/// the checkpoint and the modules around the network. Throws Error that names the key.
extern PluginFunction<std::unique_ptr<text::Tower>(const std::string& family, const nlohmann::json& config,
                                                   const std::map<std::string, Array>& tensors,
                                                   const text::SentenceModules& modules)>
    torch_open_text_tower;

/// See runs_on_processor.
extern PluginFunction<bool(const std::string& device)> torch_on_processor;

}  // namespace protocom
