#include "networks/huggingface/detail/translated.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <regex>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "networks/huggingface/detail/checkpoint_tensors.h"
#include "networks/huggingface/detail/name_rules.h"
#include "networks/huggingface/detail/timm_mobile.h"

namespace protocom::huggingface {
namespace {

/// Returns an object of that name; an empty one if there is none.
nlohmann::json object_in(const nlohmann::json& config, const char* name) {
  const auto found = config.find(name);
  return found != config.end() && found->is_object() ? *found : nlohmann::json::object();
}

/// Gives a class token without a position one of zeros.
void give_class_token_a_position(Tensors& tensors) {
  at::Tensor& positions = tensors.at("pos_embed");
  positions = at::cat({at::zeros_like(positions.narrow(1, 0, 1)), positions}, 1);
}

bool is_square(int64_t count) {
  int64_t side = 0;
  while (side * side < count) ++side;
  return side * side == count;
}

constexpr const char* kTimmPatches = "patch_embed.proj.weight";
constexpr const char* kTimmInner = "blocks.0.mlp.fc1.weight";

/// Whether the number of positions is that of `own` tokens and a square of patches.
bool has_positions(const Tensors& tensors, int64_t own) {
  const auto found = tensors.find("pos_embed");
  return found != tensors.end() && found->second.dim() == 3 && found->second.size(0) == 1 &&
         found->second.size(1) > own && is_square(found->second.size(1) - own);
}

/// Whether a transformer's MLPs have a first layer of twice the width that their second one takes.
bool is_gated(const Tensors& tensors) {
  const auto second = tensors.find("blocks.0.mlp.fc2.weight");
  return second != tensors.end() && second->second.dim() == 2 && has(tensors, kTimmInner) &&
         tensor_sizes(tensors, kTimmInner, 2)[0] == 2 * second->second.size(1);
}

/// Translates DeiT III, and DINOv2 with registers or with gates (the giant models).
Translated timm_vit(Tensors tensors) {
  nlohmann::json config = transformer_config(tensors, "dinov2", kTimmPatches, kTimmInner);
  Rules rules = vit_rules();
  if (is_gated(tensors)) {
    config["use_swiglu_ffn"] = true;
    config["gated_size"] = tensor_sizes(tensors, kTimmInner, 2)[0] / 2;
    rules.insert(rules.begin(), {{"blocks.#.mlp.fc1", "encoder.layer.#.mlp.weights_in"},
                                 {"blocks.#.mlp.fc2", "encoder.layer.#.mlp.weights_out"}});
  }
  if (has_positions(tensors, 0)) give_class_token_a_position(tensors);
  return {std::move(config), renamed(tensors, rules)};
}

/// Splits biases of queries and values named q_bias and v_bias; keys have none.
Tensors with_separate_biases(const Tensors& tensors) {
  Tensors all;
  for (const auto& [name, tensor] : tensors)
    all[std::regex_replace(name, std::regex("\\.attn\\.([qv])_bias$"), ".attn.$1.bias")] = tensor;
  return all;
}

Translated timm_beit(const Tensors& tensors) {
  nlohmann::json config = transformer_config(tensors, "beit", kTimmPatches, kTimmInner);
  const auto table = tensors.find("blocks.0.attn.relative_position_bias_table");
  if (table != tensors.end() && table->second.dim() == 2) config["num_attention_heads"] = table->second.size(1);
  config["layer_norm_eps"] = 1e-6;
  config["use_mean_pooling"] = has(tensors, "fc_norm.weight");
  return {std::move(config), renamed(with_separate_biases(tensors), beit_rules())};
}

bool is_of(const std::string& architecture, const char* names) {
  return std::regex_match(architecture.substr(0, architecture.find('.')), std::regex(names));
}

/// Returns the windows of a Swin V2 by timm's name: "window12to16" is fine-tuned from a network whose last stage had 6.
nlohmann::json swinv2_config(const nlohmann::json& stated, const std::string& architecture) {
  std::smatch found;
  if (!std::regex_search(architecture, found, std::regex("_window(\\d{1,3})(to(\\d{1,3}))?_")))
    fail("timm's '{}': its name states no window: export it to ONNX", excerpt(architecture));
  nlohmann::json config = {{"model_type", "swinv2"}, {"masks_once", true}};
  const int64_t first = std::stoll(found[1]);
  if (found[3].matched) config["pretrained_window_sizes"] = {first, first, first, std::max<int64_t>(first / 2, 2)};
  const nlohmann::json given = object_in(stated, "model_args");
  config["window_size"] = config_integer(given, "window_size", found[3].matched ? std::stoll(found[3]) : first);
  const nlohmann::json pretrained = object_in(stated, "pretrained_cfg");
  const std::vector<int64_t> size = config_integers(pretrained, "input_size", {3, 256, 256}, 1);
  config["image_size"] = config_integer(given, "img_size", size.back());
  return config;
}

/// Translates Swin. timm merges patches at the start of a stage, `transformers` at the end of the previous one.
Translated timm_swin(Tensors tensors, nlohmann::json config) {
  drop_head_and_split(tensors);
  config["patch_size"] = tensor_sizes(tensors, kTimmPatches, 4)[2];
  Tensors all;
  for (const auto& [name, tensor] : renamed(with_separate_biases(tensors), swin_rules())) {
    const std::string begin = "encoder.layers.";
    const size_t dot = name.find('.', begin.size());
    const bool merges =
        name.rfind(begin, 0) == 0 && dot == begin.size() + 1 && name.compare(dot, 12, ".downsample.") == 0;
    if (merges && name[begin.size()] == '0') fail("unknown tensor '{}' of a Swin: export it to ONNX", name);
    all[merges ? begin + static_cast<char>(name[begin.size()] - 1) + name.substr(dot) : name] = tensor;
  }
  return {std::move(config), std::move(all)};
}

Translated timm_mobilevit(Tensors tensors) {
  drop_head_and_split(tensors);
  Tensors all;
  for (const auto& [name, tensor] : renamed(tensors, mobilevit_rules())) {
    const std::string longer = std::regex_replace(name, std::regex("\\.conv\\."), ".convolution.");
    all[std::regex_replace(longer, std::regex("\\.bn\\."), ".normalization.")] = tensor;
  }
  return {{{"model_type", "mobilevit"}}, std::move(all)};
}

/// Translates Hiera. timm numbers all blocks; those that widen tokens begin a stage.
Translated timm_hiera(Tensors tensors) {
  drop(tensors, "head.fc.");
  const int64_t width = tensor_sizes(tensors, kTimmPatches, 4)[0];
  const int64_t heads = width == 256 ? 4 : width == 112 || width == 144 ? 2 : 1;
  int64_t stage = 0, layer = 0;
  for (int64_t block = 0;; ++block, ++layer) {
    const std::string begin = "blocks." + std::to_string(block) + ".";
    const Tensors own = below(tensors, begin);
    if (own.empty()) break;
    if (has(own, "proj.weight")) {
      ++stage;
      layer = 0;
    }
    for (const auto& [name, tensor] : own)
      tensors["stages." + std::to_string(stage) + ".layers." + std::to_string(layer) + "." + name] = tensor;
    drop(tensors, begin);
  }
  return {{{"model_type", "hiera"}, {"num_heads", {heads, 2 * heads, 4 * heads, 8 * heads}}},
          renamed(tensors, hiera_rules())};
}

/// Returns the type of networks that are built under timm's own names.
const char* own_type_of(const std::string& architecture) {
  if (is_timm_mobile(architecture)) return kTimmMobile;
  if (is_of(architecture, "regnet[xy]_\\d+")) return kTimmRegNet;
  if (is_of(architecture, "(se|wide_|eca)?(resnet|resnext)\\d+[cdst]?(_\\d+x\\d+d?|_2)?") &&
      !is_of(architecture, "resnet(18|34|50|101|152)"))
    return kTimmResNet;
  return nullptr;
}

Translated timm_clip(Tensors tensors, const std::string& architecture) {
  nlohmann::json config = transformer_config(tensors, "clip_vision_model", kTimmPatches, kTimmInner);
  config["layer_norm_eps"] = 1e-5;
  config["hidden_act"] = architecture.find("quickgelu") == std::string::npos ? "gelu" : "quick_gelu";
  tensors.at("cls_token") = tensors.at("cls_token").reshape({-1});
  tensors.at("pos_embed") = tensors.at("pos_embed").flatten(0, 1);
  return {std::move(config), renamed(tensors, clip_rules())};
}

/// Returns the activation: timm computes some of Google's with the exact GELU and some, as Google does, with the
/// approximate one.
const char* siglip_activation(const std::string& architecture) {
  for (const char* approximate :
       {"vit_base_patch32_siglip", "vit_large_patch16_siglip_512", "vit_so400m_patch16", "vit_giantopt"}) {
    if (architecture.rfind(approximate, 0) == 0) return "gelu_pytorch_tanh";
  }
  return "gelu";
}

Translated timm_siglip(Tensors tensors, const char* activation) {
  nlohmann::json config = transformer_config(tensors, "siglip_vision_model", kTimmPatches, kTimmInner);
  config["hidden_act"] = activation;
  for (const char* end : {"weight", "bias"}) {
    const auto query = tensors.find(std::string("attn_pool.q.") + end);
    const auto other = tensors.find(std::string("attn_pool.kv.") + end);
    if (query == tensors.end() || other == tensors.end()) continue;
    tensors[std::string("attn_pool.in_proj_") + end] = at::cat({query->second, other->second});
    tensors.erase(query);
    tensors.erase(other);
  }
  tensors.at("pos_embed") = tensors.at("pos_embed").flatten(0, 1);
  return {std::move(config), renamed(tensors, clip_rules())};
}

/// Translates ConvNeXt: convolutions of one pixel are linear layers elsewhere, and a response normalisation's scales
/// are along channels.
Translated timm_convnext(Tensors tensors) {
  const nlohmann::json config = {{"model_type", "convnext"},
                                 {"patch_size", tensor_sizes(tensors, "stem.0.weight", 4)[2]},
                                 {"layer_norm_eps", 1e-6}};
  for (auto& [name, tensor] : tensors) {
    if (tensor.dim() == 4 && (ends_with(name, ".mlp.fc1.weight") || ends_with(name, ".mlp.fc2.weight")))
      tensor = tensor.flatten(1);
    if (tensor.dim() == 1 && name.find(".mlp.grn.") != std::string::npos) tensor = tensor.view({1, 1, 1, -1});
  }
  drop(tensors, "head.fc.");
  return {config, renamed(tensors, convnext_rules())};
}

/// Translates DINOv3. timm pools the patches unless its config says otherwise; `transformers` takes the class token.
Translated timm_dinov3(const Tensors& tensors, const nlohmann::json& stated) {
  nlohmann::json config = transformer_config(tensors, "dinov3_vit", kTimmPatches, kTimmInner);
  config["mean_of_patches"] = config_text(stated, "global_pool", "avg") == "avg";
  return {std::move(config), renamed(tensors, dinov3_rules())};
}

/// Reorders queries and keys whose rotated pairs are adjacent, [heads width, ...], into halves, as in `transformers`.
at::Tensor in_halves(const at::Tensor& rows, int64_t heads) {
  if (rows.dim() < 1 || rows.size(0) % (2 * heads) != 0)
    fail("queries of {} values for {} heads, expected pairs: export the network to ONNX", rows.numel(), heads);
  return rows.unflatten(0, at::IntArrayRef({heads, rows.size(0) / heads / 2, 2})).transpose(1, 2).flatten(0, 2);
}

/// Translates EVA-02: keys have no bias; a gate may be concatenated with its gated layer.
Translated timm_eva02(const Tensors& tensors) {
  const bool gates_apart = has(tensors, "blocks.0.mlp.fc1_x.weight");
  nlohmann::json config = transformer_config(tensors, "dinov3_vit", kTimmPatches,
                                             gates_apart ? "blocks.0.mlp.fc1_x.weight" : "blocks.0.mlp.fc2.weight");
  if (!gates_apart) config["intermediate_size"] = tensor_sizes(tensors, "blocks.0.mlp.fc2.weight", 2)[1];
  const bool mean = has(tensors, "fc_norm.weight");
  config.update({{"layer_norm_eps", 1e-6},
                 {"hidden_act", "silu"},
                 {"rope_theta", 10000},
                 {"rope_grid", 16},
                 {"norm_of_mean", mean}});
  const int64_t heads = config.at("num_attention_heads").get<int64_t>();
  Tensors all;
  for (const auto& [name, tensor] : tensors) {
    std::string to = std::regex_replace(name, std::regex("\\.attn\\.([qkv])_(proj\\.)?"), ".attn.$1.");
    const bool turns = to.find(".attn.q.") != std::string::npos || to.find(".attn.k.") != std::string::npos;
    const size_t packed = gates_apart ? std::string::npos : to.find(".mlp.fc1.");
    if (packed != std::string::npos && tensor.dim() > 0) {
      const auto halves = tensor.chunk(2);
      const std::string block = to.substr(0, packed), rest = to.substr(packed + 9);
      all[fmt::format("{}.mlp.fc1_g.{}", block, rest)] = halves.front();
      all[fmt::format("{}.mlp.fc1_x.{}", block, rest)] = halves.back();
    } else {
      all[to] = turns ? in_halves(tensor, heads) : tensor;
    }
  }
  return {std::move(config), renamed(all, dinov3_rules())};
}

/// Translates a DeiT with a second token: the feature is the mean of both.
Translated timm_distilled(Tensors tensors) {
  nlohmann::json config = transformer_config(tensors, "deit", kTimmPatches, kTimmInner);
  config["layer_norm_eps"] = 1e-6;
  config["mean_of_own"] = true;
  drop(tensors, "head_dist.");
  return {std::move(config), renamed(tensors, beit_rules())};
}

bool is_convnext(const Tensors& tensors, const std::string& architecture) {
  const bool other_epsilon = architecture.rfind("convnext_xxlarge", 0) == 0;
  return architecture.rfind("convnext", 0) == 0 && !other_epsilon && has(tensors, "stem.1.weight") &&
         !has(tensors, "stem.2.weight") && has(tensors, "head.norm.weight");
}

bool is_vit(const Tensors& tensors) {
  return has(tensors, kTimmPatches) && has(tensors, kTimmInner) && has(tensors, "norm.weight");
}

}  // namespace

std::optional<Translated> translated_timm(const nlohmann::json& config, const Tensors& given) {
  const std::string architecture = config_text(config, "architecture", "");
  Tensors tensors = below(given, "timm_model.");  // as `transformers` wraps one
  if (tensors.empty()) tensors = given;
  if (const char* type = own_type_of(architecture))
    return Translated{{{"model_type", type}, {"architecture", architecture}}, std::move(tensors)};
  if (is_convnext(tensors, architecture)) return timm_convnext(std::move(tensors));
  if (is_of(architecture, "swin_[a-z0-9_]+")) return timm_swin(std::move(tensors), {{"model_type", "swin"}});
  if (is_of(architecture, "swinv2_(tiny|small|base|large)_window[a-z0-9_]+"))
    return timm_swin(std::move(tensors), swinv2_config(config, architecture));
  if (is_of(architecture, "mobilevit_(xxs|xs|s)")) return timm_mobilevit(std::move(tensors));
  if (is_of(architecture, "hiera_(tiny|small|base|base_plus|large|huge)_\\d+")) return timm_hiera(std::move(tensors));
  if (is_of(architecture, "eva02_(tiny|small|base|large)_[a-z0-9_]+")) {
    drop(tensors, "head.");
    split_qkv(tensors, ".qkv.weight", ".weight");
    return timm_eva02(tensors);
  }
  if (!has(tensors, kTimmPatches) || !has(tensors, kTimmInner)) return std::nullopt;
  if (is_of(architecture, "beit(v2)?_[a-z0-9_]+")) {
    drop(tensors, "head.");
    split_qkv(tensors, ".qkv.weight", ".weight");
    return timm_beit(tensors);
  }
  if (!is_vit(tensors)) return std::nullopt;
  drop_head_and_split(tensors);
  const bool class_token = has(tensors, "cls_token");
  if (has(tensors, "dist_token") && has_positions(tensors, 2)) return timm_distilled(std::move(tensors));
  if (has(tensors, "attn_pool.latent") && !class_token && has_positions(tensors, 0))
    return timm_siglip(std::move(tensors), siglip_activation(architecture));
  if (has(tensors, "norm_pre.weight") && class_token && has_positions(tensors, 1))
    return timm_clip(std::move(tensors), architecture);
  const bool scaled = class_token && has(tensors, "blocks.0.ls1.gamma");
  if (scaled && (has_positions(tensors, 0) || (has_positions(tensors, 1) && is_gated(tensors))))
    return timm_vit(std::move(tensors));
  if (class_token && architecture.find("_dinov3") != std::string::npos && !has(tensors, "pos_embed"))
    return timm_dinov3(tensors, config);
  return std::nullopt;
}

std::unique_ptr<Network> make_dinov3_convnext(const nlohmann::json& config, const Tensors& tensors) {
  nlohmann::json same = config;
  same["layer_norm_eps"] = config_number(config, "layer_norm_eps", 1e-6);
  Tensors named;
  for (const auto& [name, tensor] : tensors)
    named[name.rfind("model.", 0) == 0 ? name.substr(std::string("model.").size()) : name] = tensor;
  return make_convnext(same, renamed(named, dinov3_convnext_rules()));
}

}  // namespace protocom::huggingface
