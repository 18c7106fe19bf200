#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "encoders/config_json.h"

namespace protocom::huggingface {

/// An image tower of one family, on normalised images.
class Network {
 public:
  virtual ~Network() = default;
  /// Computes float32 [n, 3, h, w] -> [n, d], called pooled or image embeddings in `transformers`.
  [[nodiscard]] virtual at::Tensor features(const at::Tensor& images) const = 0;
  /// Computes the last maps, or a transformer's patch tokens, -> [n, c, h', w'].
  [[nodiscard]] virtual at::Tensor maps(const at::Tensor& images) const = 0;
};

/// Types for networks under open_clip's and timm's own names, which no config.json has.
inline constexpr const char* kOpenClipResNet = "open_clip ResNet";
inline constexpr const char* kTimmMobile = "timm inverted residuals";
inline constexpr const char* kTimmRegNet = "timm RegNet";
inline constexpr const char* kTimmResNet = "timm ResNet";

/// Names of the layer after the feature of a timm tower in an open_clip checkpoint.
inline constexpr const char* kProjectedWeight = "open_clip projection.weight";
inline constexpr const char* kProjectedBias = "open_clip projection.bias";

using Tensors = std::map<std::string, at::Tensor>;

/// Makes a network by `model_type` of config.json; uses only the part of the image tower (`vision_config`). Throws
/// Error that names the family and the key for an unknown type, and a tensor that is missing or of another family.
std::unique_ptr<Network> make_network(const nlohmann::json& config, const Tensors& tensors);

/// Make networks of the families.
std::unique_ptr<Network> make_vit(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_dinov2(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_dinov3(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_clip(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_siglip(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_convnext(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_resnet(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_beit(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_hiera(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_mobilevit(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_swin(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_regnet(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_efficientnet(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_dinov3_convnext(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_mobilenet_v1(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_mobilenet_v2(const nlohmann::json& config, const Tensors& tensors);
/// Makes one under open_clip's own names.
std::unique_ptr<Network> make_open_clip_resnet(const nlohmann::json& config, const Tensors& tensors);
/// Makes one under timm's own names; config.json has `architecture`.
std::unique_ptr<Network> make_timm_mobile(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_timm_regnet(const nlohmann::json& config, const Tensors& tensors);
std::unique_ptr<Network> make_timm_resnet(const nlohmann::json& config, const Tensors& tensors);

/// Returns an activation in ACT2FN of `transformers`. Throws Error for one that no family has.
using Activation = at::Tensor (*)(const at::Tensor&);
Activation activation_of(const std::string& name);

}  // namespace protocom::huggingface
