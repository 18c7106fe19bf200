#include "base/error.h"
#include "base/text.h"
#include "networks/huggingface/detail/checkpoint_tensors.h"
#include "networks/huggingface/detail/name_rules.h"
#include "networks/huggingface/detail/translated.h"

namespace protocom::huggingface {

Translated translated_open_clip(const nlohmann::json& model, const Tensors& given) {
  const auto vision = model.find("vision_cfg");
  if (vision == model.end() || !vision->is_object()) fail("open_clip_config.json: missing vision_cfg");
  Tensors tensors = below(given, "visual.");
  const std::string timm = config_text(*vision, "timm_model_name", "");
  if (!timm.empty()) {
    Tensors trunk = below(tensors, "trunk.");
    drop(tensors, "trunk.");
    const bool other_head = has(trunk, "fc.weight") || has(trunk, "classifier.weight") || has(trunk, "head.fc.weight");
    auto made = tensors.empty() && !other_head ? translated_timm({{"architecture", timm}}, trunk) : std::nullopt;
    if (!made) fail("open_clip's image tower '{}' is not supported: export it to ONNX", excerpt(timm));
    if (has(trunk, "head.weight")) made->tensors[kProjectedWeight] = trunk.at("head.weight");
    if (has(trunk, "head.bias")) made->tensors[kProjectedBias] = trunk.at("head.bias");
    return std::move(*made);
  }
  if (has(tensors, "attnpool.q_proj.weight"))
    return {{{"model_type", kOpenClipResNet}, {"head_width", config_integer(*vision, "head_width", 64)}},
            std::move(tensors)};
  if (!has(tensors, "class_embedding"))
    fail("open_clip_config.json: this image tower is neither a vision transformer nor a ResNet: export it to ONNX");
  nlohmann::json config =
      transformer_config(tensors, "clip_vision_model", "conv1.weight", "transformer.resblocks.0.mlp.c_fc.weight");
  config["layer_norm_eps"] = 1e-5;
  config["hidden_act"] = config_flag(model, "quick_gelu", false) ? "quick_gelu" : "gelu";
  const int64_t width = config.at("hidden_size").get<int64_t>();
  config["num_attention_heads"] = std::max<int64_t>(1, width / config_integer(*vision, "head_width", 64));
  split_qkv(tensors, ".in_proj_weight", ".weight");
  split_qkv(tensors, ".in_proj_bias", ".bias");
  if (const auto projection = tensors.find("proj"); projection != tensors.end() && projection->second.dim() == 2)
    projection->second = projection->second.t().contiguous();
  return {std::move(config), renamed(tensors, open_clip_rules())};
}

}  // namespace protocom::huggingface
