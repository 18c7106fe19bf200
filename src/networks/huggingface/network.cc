#include "networks/huggingface/detail/network.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "base/error.h"

namespace protocom::huggingface {
namespace {

using Maker = std::unique_ptr<Network> (*)(const nlohmann::json&, const Tensors&);

/// By model_type; those of timm are what a folder of timm's becomes.
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
      {"metaclip_2", &make_clip},
      {"metaclip_2_vision_model", &make_clip},
      {"mobilenet_v1", &make_mobilenet_v1},
      {"mobilenet_v2", &make_mobilenet_v2},
      {"regnet", &make_regnet},
      {"resnet", &make_resnet},
      {"siglip", &make_siglip},
      {"siglip_vision_model", &make_siglip},
      {"swin", &make_swin},
      {"vit", &make_vit},
      {"vit_msn", &make_vit},
      {kTimmMobile, &make_timm_mobile},
      {kTimmRegNet, &make_timm_regnet},
      {kTimmResNet, &make_timm_resnet},
  };
  return kAll;
}

/// The value of a name, if it is there and said.
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

}  // namespace

std::unique_ptr<Network> make_network(const nlohmann::json& config, const Tensors& tensors) {
  if (!config.is_object()) fail("config.json is not an object");
  const std::string type = config_text(config, "model_type", "");
  const auto found = makers().find(type);
  if (found == makers().end()) {
    std::vector<std::string> known;
    for (const auto& [name, maker] : makers()) {
      if (name.rfind("timm ", 0) != 0) known.push_back(name);
    }
    fail("config.json has the model_type '{}', expected one of {}: export it to ONNX", excerpt(type),
         fmt::join(known, ", "));
  }
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
