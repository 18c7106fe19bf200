#include "networks/detail/architecture.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <regex>

#include "base/error.h"
#include "base/to_whole.h"
#include "networks/detail/conv4.h"
#include "networks/detail/resnet.h"
#include "networks/detail/resnet12.h"
#include "networks/detail/vision_transformer.h"

namespace protocom {
namespace {

struct KnownResNet {
  const char* name;
  ResNet::Block block;
  std::array<int64_t, 4> blocks;
};

const std::array<KnownResNet, 5>& known_resnets() {
  static const std::array<KnownResNet, 5> kKnown = {{{"resnet18", ResNet::Block::kBasic, {2, 2, 2, 2}},
                                                     {"resnet34", ResNet::Block::kBasic, {3, 4, 6, 3}},
                                                     {"resnet50", ResNet::Block::kBottleneck, {3, 4, 6, 3}},
                                                     {"resnet101", ResNet::Block::kBottleneck, {3, 4, 23, 3}},
                                                     {"resnet152", ResNet::Block::kBottleneck, {3, 8, 36, 3}}}};
  return kKnown;
}

/// Accesses a state dict whose names may all begin with a prefix.
class Names {
 public:
  /// The prefix is the part of a name before `first`.
  Names(const StateDict& state, const std::string& first) : state_(state) {
    for (const auto& [name, tensor] : state) {
      const bool ends =
          name.size() >= first.size() && name.compare(name.size() - first.size(), first.size(), first) == 0;
      const bool whole = ends && (name.size() == first.size() || name[name.size() - first.size() - 1] == '.');
      if (whole && (!found_ || name.size() < prefix_.size() + first.size()))
        prefix_ = name.substr(0, name.size() - first.size());
      found_ = found_ || whole;
    }
  }

  [[nodiscard]] bool found() const { return found_; }
  /// Returns the names, without the prefix, that begin with `begin`.
  [[nodiscard]] std::vector<std::string> starting_with(const std::string& begin) const {
    std::vector<std::string> names;
    for (auto entry = state_.lower_bound(prefix_ + begin);
         entry != state_.end() && entry->first.rfind(prefix_ + begin, 0) == 0; ++entry)
      names.push_back(entry->first.substr(prefix_.size()));
    return names;
  }
  [[nodiscard]] bool has(const std::string& name) const { return state_.count(prefix_ + name) > 0; }
  /// Returns the sizes of an entry. Throws Error if it is missing or has another number of dimensions.
  [[nodiscard]] at::IntArrayRef sizes(const std::string& name, int64_t dims) const {
    const auto entry = state_.find(prefix_ + name);
    if (entry == state_.end() || entry->second.dim() != dims)
      fail("expected an entry '{}' of {} sizes: export a network of another kind to ONNX", prefix_ + name, dims);
    return entry->second.sizes();
  }
  /// Returns how many of NAME.0.END, NAME.1.END, ... exist.
  [[nodiscard]] int64_t count(const std::string& name, const std::string& end) const {
    int64_t number = 0;
    while (has(fmt::format("{}.{}.{}", name, number, end))) ++number;
    return number;
  }

 private:
  const StateDict& state_;
  std::string prefix_;
  bool found_ = false;
};

/// Refuses blocks with further entries, which compute something else: squeeze-and-excitation, blurred pooling, another
/// shortcut.
void check_blocks(const Names& names) {
  static const std::regex kKnown(
      R"(layer\d\.\d+\.(conv[123]\.weight|downsample\.0\.weight|(bn[123]|downsample\.1)\.(weight|bias|running_mean|running_var|num_batches_tracked)))");
  for (const char* layer : {"layer1.", "layer2.", "layer3.", "layer4."}) {
    for (const std::string& name : names.starting_with(layer)) {
      if (!std::regex_match(name, kKnown))
        fail("unsupported residual network with a tensor '{}': export it to ONNX", name);
    }
  }
}

std::optional<std::string> published_resnet(const Names& names) {
  if (!names.found()) return std::nullopt;
  check_blocks(names);
  const auto block = names.has("layer1.0.conv3.weight") ? ResNet::Block::kBottleneck : ResNet::Block::kBasic;
  std::array<int64_t, 4> blocks{};
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = names.count("layer" + std::to_string(i + 1), "conv1.weight");
  for (const KnownResNet& known : known_resnets()) {
    if (known.block == block && known.blocks == blocks) return known.name;
  }
  fail("unsupported residual network with {}, {}, {} and {} blocks: export it to ONNX", blocks[0], blocks[1], blocks[2],
       blocks[3]);
}

std::optional<std::string> published_transformer(const Names& names) {
  if (!names.found()) return std::nullopt;
  for (const char* other : {"reg_token", "norm_pre.weight", "fc_norm.weight", "blocks.0.attn.q_norm.weight",
                            "blocks.0.mlp.w12.weight", "dist_token", "attn_pool.latent"}) {
    if (names.has(other)) fail("unsupported vision transformer with a tensor '{}': export it to ONNX", other);
  }
  VisionTransformerShape shape;
  const auto patch = names.sizes("patch_embed.proj.weight", 4);
  shape.width = patch[0];
  shape.patch = patch[2];
  shape.depth = names.count("blocks", "norm1.weight");
  const int64_t places = names.sizes("pos_embed", 3)[1] - 1;
  if (shape.width < 1 || places < 1)
    fail("a vision transformer with tokens of width {} and {} positions: expected at least 1", shape.width, places);
  shape.grid = to_whole<int64_t>(std::round(std::sqrt(static_cast<double>(places))));
  if (shape.grid * shape.grid != places)
    fail("'pos_embed' has {} positions, expected 1 and a square number: export it to ONNX", places + 1);
  shape.mlp = names.sizes("blocks.0.mlp.fc1.weight", 2)[0] / shape.width;
  shape.registers = names.has("register_tokens") ? names.sizes("register_tokens", 3)[1] : 0;
  shape.layer_scale = names.has("blocks.0.ls1.gamma");
  shape.stretched = names.has("mask_token") && shape.registers == 0;
  return to_string(shape);
}

}  // namespace

std::shared_ptr<FeatureModule> make_module(const std::string& architecture) {
  if (architecture == "resnet12") return std::make_shared<ResNet12>(std::array<int64_t, 4>{64, 128, 256, 512});
  if (architecture == "resnet12-wide") return std::make_shared<ResNet12>(std::array<int64_t, 4>{64, 160, 320, 640});
  if (architecture == "conv4") return std::make_shared<Conv4>();
  for (const KnownResNet& known : known_resnets()) {
    if (architecture == known.name) return std::make_shared<ResNet>(known.block, known.blocks);
  }
  if (architecture.rfind("vit", 0) == 0)
    return std::make_shared<VisionTransformer>(parse_vision_transformer(architecture));
  fail_usage(
      "unknown backbone architecture '{}': expected resnet12, resnet12-wide, conv4, resnet18, resnet34, resnet50, "
      "resnet101 or "
      "resnet152",
      architecture);
}

std::optional<std::string> published_architecture(const StateDict& state) {
  if (Names(state, "conv_proj.weight").found() || Names(state, "encoder.layers.encoder_layer_0.ln_1.weight").found())
    fail("torchvision's vision transformers are not supported: use timm's of the same kind, or export it to ONNX");
  if (Names(state, "transformer.resblocks.0.ln_1.weight").found())
    fail(
        "image towers in the format of OpenAI's CLIP and open_clip are not supported: use Hugging Face's folder of the "
        "same network, or export it to ONNX");
  if (auto resnet = published_resnet(Names(state, "layer1.0.conv1.weight"))) return resnet;
  return published_transformer(Names(state, "patch_embed.proj.weight"));
}

void check_fits(const std::string& architecture, const StateDict& state) {
  if (architecture.rfind("vit", 0) != 0) return;
  const auto found = published_architecture(state);
  if (!found) fail("the tensors are not those of {}", architecture);
  VisionTransformerShape shape = parse_vision_transformer(*found);
  shape.stretched = parse_vision_transformer(architecture).stretched;  // not derivable from the tensors
  if (to_string(shape) != architecture) fail("the tensors are those of {}, not of {}", to_string(shape), architecture);
}

}  // namespace protocom
