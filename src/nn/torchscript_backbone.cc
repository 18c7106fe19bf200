#include "nn/torchscript_backbone.h"

#include <fmt/ranges.h>

#include "nn/module_backbone.h"
#include "protocom/core/error.h"

namespace protocom {
namespace {

// LibTorch's messages go on with a stack trace of C++ symbols.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

torch::jit::Module load(const std::filesystem::path& path) {
  try {
    return torch::jit::load(path.string(), c10::Device(c10::kCPU));
  } catch (const c10::Error& error) {
    fail("{} cannot be loaded as TorchScript: {}", path.string(), first_line(error.what_without_backtrace()));
  }
}

}  // namespace

TorchScriptBackbone::TorchScriptBackbone(const std::filesystem::path& path, int64_t image_size)
    : module_(load(path)), path_(path), image_size_(image_size) {
  module_.eval();
  dim_ = forward(at::full({2, 3, image_size, image_size}, 0.5F)).size(1);
}

at::Tensor TorchScriptBackbone::forward(const at::Tensor& images) {
  check_images(images);
  torch::AutoGradMode grad(mode_ != BackboneMode::kUse && at::GradMode::is_enabled());
  at::Tensor features;
  try {
    const c10::IValue output = module_.forward({images});
    if (!output.isTensor()) fail("{} gives a {}, expected one tensor [n, d]", path_.string(), output.tagKind());
    features = output.toTensor();
  } catch (const c10::Error& error) {
    fail("{} does not run on images of shape [{}]: {}", path_.string(), fmt::join(images.sizes(), ", "),
         first_line(error.what_without_backtrace()));
  }
  if (features.dim() != 2 || features.size(0) != images.size(0) || !features.is_floating_point()) {
    fail("{} gives {} [{}] for {} images, expected float features [n, d]", path_.string(),
         toString(features.scalar_type()), fmt::join(features.sizes(), ", "), images.size(0));
  }
  return features.to(at::kFloat);
}

void TorchScriptBackbone::set_mode(BackboneMode mode) {
  mode_ = mode;
  module_.train(mode == BackboneMode::kTrain);
}

std::vector<std::pair<std::string, at::Tensor>> TorchScriptBackbone::state_dict() const {
  std::vector<std::pair<std::string, at::Tensor>> entries;
  for (const auto& item : module_.named_parameters()) entries.emplace_back(item.name, item.value);
  for (const auto& item : module_.named_buffers()) entries.emplace_back(item.name, item.value);
  return entries;
}

std::vector<at::Tensor> TorchScriptBackbone::parameters() const {
  std::vector<at::Tensor> tensors;
  for (const auto& parameter : module_.parameters()) {
    if (parameter.requires_grad()) tensors.push_back(parameter);
  }
  return tensors;
}

}  // namespace protocom
