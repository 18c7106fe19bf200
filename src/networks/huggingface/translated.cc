#include "networks/huggingface/detail/translated.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <regex>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "networks/huggingface/detail/name_rules.h"
#include "networks/huggingface/detail/timm_mobile.h"

namespace protocom::huggingface {
namespace {

/// Queries, keys and values that lie behind one another become three tensors: NAME`joined` becomes NAME.q`end`, ...
void split_qkv(Tensors& tensors, const std::string& joined, const std::string& end) {
  std::vector<std::string> found;
  for (const auto& [name, tensor] : tensors) {
    if (ends_with(name, joined) && tensor.dim() >= 1 && tensor.size(0) % 3 == 0) found.push_back(name);
  }
  for (const std::string& name : found) {
    const auto parts = tensors.at(name).chunk(3);
    const std::string begin = name.substr(0, name.size() - joined.size());
    for (size_t i = 0; i < parts.size(); ++i) tensors[begin + "." + "qkv"[i] + end] = parts[i];
    tensors.erase(name);
  }
}

void drop(Tensors& tensors, const std::string& begin) {
  for (auto item = tensors.lower_bound(begin); item != tensors.end() && item->first.rfind(begin, 0) == 0;)
    item = tensors.erase(item);
}

/// What is called BEGIN..., without that.
Tensors below(const Tensors& tensors, const std::string& begin) {
  Tensors found;
  for (auto item = tensors.lower_bound(begin); item != tensors.end() && item->first.rfind(begin, 0) == 0; ++item)
    found[item->first.substr(begin.size())] = item->second;
  return found;
}

bool has(const Tensors& tensors, const char* name) { return tensors.count(name) > 0; }

/// Sizes of a tensor. Throws Error if it is missing or has another number of dimensions.
at::IntArrayRef sizes_of(const Tensors& tensors, const std::string& name, int64_t dims) {
  const auto found = tensors.find(name);
  if (found == tensors.end() || found->second.dim() != dims)
    fail("expected a tensor '{}' of {} sizes: export the network to ONNX", name, dims);
  return found->second.sizes();
}

/// Heads are 64 wide but for the largest networks. Throws Error for other widths.
int64_t heads_of(int64_t width) {
  constexpr int64_t kHead = 64;
  constexpr std::array<int64_t, 5> kOfSixteen = {1152, 1280, 1408, 1536, 1664};
  if (std::find(kOfSixteen.begin(), kOfSixteen.end(), width) != kOfSixteen.end()) return 16;
  if (width < kHead || width % kHead != 0)
    fail("tokens are {} wide, expected a multiple of {}: export the network to ONNX", width, kHead);
  return width / kHead;
}

/// What tensors say of a transformer: `patches` and `inner` (the first layer of its MLP) are names of weights.
nlohmann::json transformer_config(const Tensors& tensors, const char* type, const char* patches, const char* inner) {
  const at::IntArrayRef patch = sizes_of(tensors, patches, 4);
  const int64_t width = patch[0];
  const int64_t mlp = sizes_of(tensors, inner, 2)[0];
  return {{"model_type", type},
          {"hidden_size", width},
          {"num_attention_heads", heads_of(width)},
          {"intermediate_size", mlp},
          {"mlp_ratio", mlp / std::max<int64_t>(width, 1)},
          {"patch_size", patch[2]},
          {"antialiased_positions", true}};
}

/// A class token without a position of its own gets one of zeros.
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

/// Whether there are positions of as many places as `own` tokens and a square of patches have.
bool has_positions(const Tensors& tensors, int64_t own) {
  const auto found = tensors.find("pos_embed");
  return found != tensors.end() && found->second.dim() == 3 && found->second.size(0) == 1 &&
         found->second.size(1) > own && is_square(found->second.size(1) - own);
}

/// Whether a transformer's MLPs have a first layer of twice the width that their second one takes.
bool is_gated(const Tensors& tensors) {
  const auto second = tensors.find("blocks.0.mlp.fc2.weight");
  return second != tensors.end() && second->second.dim() == 2 && has(tensors, kTimmInner) &&
         sizes_of(tensors, kTimmInner, 2)[0] == 2 * second->second.size(1);
}

/// DeiT III, and DINOv2 with registers or with gates (the giant ones).
Translated timm_vit(Tensors tensors) {
  nlohmann::json config = transformer_config(tensors, "dinov2", kTimmPatches, kTimmInner);
  Rules rules = vit_rules();
  if (is_gated(tensors)) {
    config["use_swiglu_ffn"] = true;
    config["gated_size"] = sizes_of(tensors, kTimmInner, 2)[0] / 2;
    rules.insert(rules.begin(), {{"blocks.#.mlp.fc1", "encoder.layer.#.mlp.weights_in"},
                                 {"blocks.#.mlp.fc2", "encoder.layer.#.mlp.weights_out"}});
  }
  if (has_positions(tensors, 0)) give_class_token_a_position(tensors);
  return {std::move(config), renamed(tensors, rules)};
}

/// BEiT: keys have no bias.
Translated timm_beit(Tensors tensors) {
  nlohmann::json config = transformer_config(tensors, "beit", kTimmPatches, kTimmInner);
  const auto table = tensors.find("blocks.0.attn.relative_position_bias_table");
  if (table != tensors.end() && table->second.dim() == 2) config["num_attention_heads"] = table->second.size(1);
  config["layer_norm_eps"] = 1e-6;
  config["use_mean_pooling"] = has(tensors, "fc_norm.weight");
  Tensors all;
  for (auto& [name, tensor] : tensors) {
    std::string to = name;
    for (const char* part : {"q", "v"}) {
      const std::string end = std::string(".attn.") + part + "_bias";
      if (ends_with(name, end)) to = name.substr(0, name.size() - end.size()) + ".attn." + part + ".bias";
    }
    all[to] = tensor;
  }
  return {std::move(config), renamed(all, beit_rules())};
}

/// Swin. timm merges patches at the start of a stage, `transformers` at the end of the one before.
Translated timm_swin(Tensors tensors) {
  drop(tensors, "head.");
  split_qkv(tensors, ".qkv.weight", ".weight");
  split_qkv(tensors, ".qkv.bias", ".bias");
  nlohmann::json config = {{"model_type", "swin"}, {"patch_size", sizes_of(tensors, kTimmPatches, 4)[2]}};
  Tensors all;
  for (const auto& [name, tensor] : renamed(tensors, swin_rules())) {
    const std::string begin = "encoder.layers.";
    const size_t dot = name.find('.', begin.size());
    const bool merges =
        name.rfind(begin, 0) == 0 && dot == begin.size() + 1 && name.compare(dot, 12, ".downsample.") == 0;
    if (merges && name[begin.size()] == '0') fail("unknown tensor '{}' of a Swin: export it to ONNX", name);
    all[merges ? begin + static_cast<char>(name[begin.size()] - 1) + name.substr(dot) : name] = tensor;
  }
  return {std::move(config), std::move(all)};
}

bool is_of(const std::string& architecture, const char* names) {
  return std::regex_match(architecture.substr(0, architecture.find('.')), std::regex(names));
}

/// Networks that are built under timm's own names.
const char* own_type_of(const std::string& architecture) {
  if (is_timm_mobile(architecture)) return kTimmMobile;
  if (is_of(architecture, "regnet[xy]_\\d+")) return kTimmRegNet;
  if (is_of(architecture, "(se|wide_)?(resnet|resnext)\\d+[cdst]?(_\\d+x\\d+d?|_2)?") &&
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

/// timm computes some of Google's with the exact GELU and some, as Google does, with the approximate one.
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

/// Convolutions of one pixel are the linear layers that others have, and a response normalisation's scales lie along
/// channels.
Translated timm_convnext(Tensors tensors) {
  const nlohmann::json config = {
      {"model_type", "convnext"}, {"patch_size", sizes_of(tensors, "stem.0.weight", 4)[2]}, {"layer_norm_eps", 1e-6}};
  for (auto& [name, tensor] : tensors) {
    if (tensor.dim() == 4 && (ends_with(name, ".mlp.fc1.weight") || ends_with(name, ".mlp.fc2.weight")))
      tensor = tensor.flatten(1);
    if (tensor.dim() == 1 && name.find(".mlp.grn.") != std::string::npos) tensor = tensor.view({1, 1, 1, -1});
  }
  drop(tensors, "head.fc.");
  return {config, renamed(tensors, convnext_rules())};
}

/// timm pools the patches unless its config says otherwise; `transformers` takes the class token.
Translated timm_dinov3(Tensors tensors, const nlohmann::json& stated) {
  nlohmann::json config = transformer_config(tensors, "dinov3_vit", kTimmPatches, kTimmInner);
  config["mean_of_patches"] = config_text(stated, "global_pool", "avg") == "avg";
  return {std::move(config), renamed(tensors, dinov3_rules())};
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
  Tensors tensors = given;
  if (const char* type = own_type_of(architecture))
    return Translated{{{"model_type", type}, {"architecture", architecture}}, std::move(tensors)};
  if (is_convnext(tensors, architecture)) return timm_convnext(std::move(tensors));
  if (is_of(architecture, "swin_[a-z0-9_]+")) return timm_swin(std::move(tensors));
  if (!has(tensors, kTimmPatches) || !has(tensors, kTimmInner)) return std::nullopt;
  if (is_of(architecture, "beit(v2)?_[a-z0-9_]+")) {
    drop(tensors, "head.");
    split_qkv(tensors, ".qkv.weight", ".weight");
    return timm_beit(std::move(tensors));
  }
  if (!is_vit(tensors)) return std::nullopt;
  drop(tensors, "head.");
  split_qkv(tensors, ".qkv.weight", ".weight");
  split_qkv(tensors, ".qkv.bias", ".bias");
  const bool class_token = has(tensors, "cls_token");
  if (has(tensors, "attn_pool.latent") && !class_token && has_positions(tensors, 0))
    return timm_siglip(std::move(tensors), siglip_activation(architecture));
  if (has(tensors, "norm_pre.weight") && class_token && has_positions(tensors, 1))
    return timm_clip(std::move(tensors), architecture);
  const bool scaled = class_token && has(tensors, "blocks.0.ls1.gamma");
  if (scaled && (has_positions(tensors, 0) || (has_positions(tensors, 1) && is_gated(tensors))))
    return timm_vit(std::move(tensors));
  if (class_token && architecture.find("_dinov3") != std::string::npos && !has(tensors, "pos_embed"))
    return timm_dinov3(std::move(tensors), config);
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

Translated translated_open_clip(const nlohmann::json& model, const Tensors& given) {
  const auto vision = model.find("vision_cfg");
  if (vision == model.end() || !vision->is_object()) fail("open_clip_config.json: missing vision_cfg");
  Tensors tensors = below(given, "visual.");
  const std::string timm = config_text(*vision, "timm_model_name", "");
  if (!timm.empty()) {
    Tensors trunk = below(tensors, "trunk.");
    drop(tensors, "trunk.");
    auto made = tensors.empty() ? translated_timm({{"architecture", timm}}, trunk) : std::nullopt;
    if (!made) fail("open_clip's image tower '{}' is not supported: export it to ONNX", excerpt(timm));
    return std::move(*made);
  }
  if (!has(tensors, "class_embedding"))
    fail("open_clip_config.json: this image tower is not a vision transformer: export it to ONNX");
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
