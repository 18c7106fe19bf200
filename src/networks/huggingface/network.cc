#include "networks/huggingface/detail/network.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/error.h"
#include "networks/huggingface/detail/weights.h"

namespace protocom::huggingface {
namespace {

using Maker = std::unique_ptr<Network> (*)(const nlohmann::json&, const Tensors&);

/// Makers by model_type; timm's types are translated ones.
const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> kAll = {
      {"beit", &make_beit},
      {"chinese_clip", &make_clip},
      {"chinese_clip_vision_model", &make_clip},
      {"clip", &make_clip},
      {"clip_vision_model", &make_clip},
      {"convnext", &make_convnext},
      {"convnextv2", &make_convnext},
      {"data2vec-vision", &make_beit},
      {"deit", &make_vit},
      {"dinov2", &make_dinov2},
      {"dinov2_with_registers", &make_dinov2},
      {"dinov3_convnext", &make_dinov3_convnext},
      {"dinov3_vit", &make_dinov3},
      {"efficientnet", &make_efficientnet},
      {"hiera", &make_hiera},
      {"metaclip_2", &make_clip},
      {"metaclip_2_vision_model", &make_clip},
      {"mobilenet_v1", &make_mobilenet_v1},
      {"mobilenet_v2", &make_mobilenet_v2},
      {"mobilevit", &make_mobilevit},
      {"regnet", &make_regnet},
      {"resnet", &make_resnet},
      {"siglip", &make_siglip},
      {"siglip_vision_model", &make_siglip},
      {"swin", &make_swin},
      {"swinv2", &make_swin},
      {"vit", &make_vit},
      {"vit_msn", &make_vit},
      {kOpenClipResNet, &make_open_clip_resnet},
      {kTimmMobile, &make_timm_mobile},
      {kTimmRegNet, &make_timm_regnet},
      {kTimmResNet, &make_timm_resnet},
  };
  return kAll;
}

/// Returns the value of a name, if it exists and is not null.
const nlohmann::json* find(const nlohmann::json& config, const char* name) {
  const auto found = config.find(name);
  return found == config.end() || found->is_null() ? nullptr : &*found;
}

at::Tensor exact_gelu(const at::Tensor& x) { return at::gelu(x); }
at::Tensor tanh_gelu(const at::Tensor& x) { return at::gelu(x, "tanh"); }
at::Tensor quick_gelu(const at::Tensor& x) { return x * at::sigmoid(1.702 * x); }
at::Tensor rectified(const at::Tensor& x) { return at::relu(x); }
at::Tensor swish(const at::Tensor& x) { return at::silu(x); }
at::Tensor rectified_to_six(const at::Tensor& x) { return at::clamp(x, 0, 6); }
at::Tensor logistic(const at::Tensor& x) { return at::sigmoid(x); }
at::Tensor hard_logistic(const at::Tensor& x) { return at::hardsigmoid(x); }
at::Tensor hard_swish(const at::Tensor& x) { return at::hardswish(x); }

/// A tower whose feature is projected into the space of texts.
class ProjectedNetwork : public Network {
 public:
  ProjectedNetwork(std::unique_ptr<Network> tower, at::Tensor weight, at::Tensor bias)
      : tower_(std::move(tower)), weight_(std::move(weight)), bias_(std::move(bias)) {}

  [[nodiscard]] at::Tensor features(const at::Tensor& images) const override {
    return at::linear(tower_->features(images), weight_, bias_);
  }
  [[nodiscard]] at::Tensor maps(const at::Tensor& images) const override { return tower_->maps(images); }

 private:
  std::unique_ptr<Network> tower_;
  at::Tensor weight_, bias_;
};

/// Makes the tower with its last layer as the projection.
std::unique_ptr<Network> make_projected(Maker maker, const nlohmann::json& config, Tensors tensors) {
  Weights weights(tensors, "CLIP", kProjectedWeight);
  at::Tensor weight = weights.take(kProjectedWeight, {-1, -1});
  at::Tensor bias = weights.take_if_there(kProjectedBias, {weight.size(0)});
  tensors.erase(kProjectedWeight);
  tensors.erase(kProjectedBias);
  return std::make_unique<ProjectedNetwork>(maker(config, tensors), std::move(weight), std::move(bias));
}

}  // namespace

std::unique_ptr<Network> make_network(const nlohmann::json& config, const Tensors& tensors) {
  if (!config.is_object()) fail("config.json is not an object");
  const std::string type = config_text(config, "model_type", "");
  const auto found = makers().find(type);
  if (found == makers().end()) {
    std::vector<std::string> known;
    for (const auto& [name, maker] : makers()) {
      if (name.find(' ') == std::string::npos) known.push_back(name);
    }
    fail("config.json has the model_type '{}', expected one of {}: export it to ONNX", excerpt(type),
         fmt::join(known, ", "));
  }
  if (tensors.count(kProjectedWeight) > 0) return make_projected(found->second, config, tensors);
  const nlohmann::json* tower = find(config, "vision_config");
  return found->second(tower != nullptr && tower->is_object() ? *tower : config, tensors);
}

Activation activation_of(const std::string& name) {
  static const std::map<std::string, Activation> kAll = {{"gelu", &exact_gelu},
                                                         {"gelu_pytorch_tanh", &tanh_gelu},
                                                         {"gelu_new", &tanh_gelu},
                                                         {"gelu_fast", &tanh_gelu},
                                                         {"quick_gelu", &quick_gelu},
                                                         {"relu", &rectified},
                                                         {"silu", &swish},
                                                         {"swish", &swish},
                                                         {"relu6", &rectified_to_six},
                                                         {"sigmoid", &logistic},
                                                         {"hard_sigmoid", &hard_logistic},
                                                         {"hard_swish", &hard_swish}};
  const auto found = kAll.find(name);
  if (found == kAll.end()) fail("config.json: unknown activation '{}'", excerpt(name));
  return found->second;
}

}  // namespace protocom::huggingface
