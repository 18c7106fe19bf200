#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "networks/huggingface/detail/network.h"

namespace protocom::huggingface {

/// A checkpoint renamed for a family of `transformers` that computes the same, with the config.json that it would have
/// there.
struct Translated {
  nlohmann::json config;
  Tensors tensors;
};

/// Translates a checkpoint of timm, by its config.json: ConvNeXt, DINOv3, and vision transformers of CLIP, SigLIP, DeiT
/// III or DINOv2 with registers. Nothing for others. A classifier is dropped. Throws Error for tensors of other sizes.
std::optional<Translated> translated_timm(const nlohmann::json& config, const Tensors& tensors);

/// Translates the image tower of an open_clip checkpoint, by `model_cfg` of its config. Throws Error for a tower that
/// is neither open_clip's own transformer nor one of the above.
Translated translated_open_clip(const nlohmann::json& model, const Tensors& tensors);

}  // namespace protocom::huggingface
