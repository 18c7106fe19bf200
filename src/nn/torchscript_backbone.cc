#include "nn/torchscript_backbone.h"

#include <fmt/ranges.h>

#include "nn/module_backbone.h"
#include "protocom/core/error.h"
#include "protocom/core/foreign_code.h"
#include "protocom/core/log.h"

namespace protocom {
namespace {

void check_size(int64_t image_size) {
  if (image_size < 1 || image_size > kLargestImage)
    fail_usage("images of {0}x{0} pixels for a backbone: expected 1 to {1}", image_size, kLargestImage);
}

torch::jit::Module load(const std::filesystem::path& path) {
  logger().info("{} is TorchScript, a program that now runs here: load only what you trust, or use a state dict",
                path.string());
  const ForeignCode foreign(path.string());
  try {
    return torch::jit::load(path.string(), c10::Device(c10::kCPU));
  } catch (const std::exception& error) {
    fail("{} cannot be loaded as TorchScript: {}", path.string(), reason_of(error));
  }
}

}  // namespace

TorchScriptBackbone::TorchScriptBackbone(const std::filesystem::path& path, int64_t image_size)
    : module_(load(path)), path_(path), image_size_(image_size) {
  check_size(image_size);
  module_.eval();
  dim_ = TorchScriptBackbone::forward(at::full({2, 3, image_size, image_size}, 0.5F)).size(1);
}

at::Tensor TorchScriptBackbone::run(const std::string& method, const at::Tensor& images) {
  check_images(images);
  torch::AutoGradMode grad(mode_ != BackboneMode::kUse && at::GradMode::is_enabled());
  try {
    const ForeignCode foreign(path_.string());
    const c10::IValue output = module_.get_method(method)({images});
    if (!output.isTensor()) fail("{} gives a {}, expected one tensor", path_.string(), output.tagKind());
    return output.toTensor();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    fail("{} does not run on images of shape [{}]: {}", path_.string(), fmt::join(images.sizes(), ", "),
         reason_of(error));
  }
}

at::Tensor TorchScriptBackbone::forward(const at::Tensor& images) {
  const at::Tensor features = run("forward", images);
  if (features.dim() != 2 || features.size(0) != images.size(0) || !features.is_floating_point()) {
    fail("{} gives {} [{}] for {} images, expected float features [n, d]", path_.string(),
         toString(features.scalar_type()), fmt::join(features.sizes(), ", "), images.size(0));
  }
  return features.to(at::kFloat);
}

at::Tensor TorchScriptBackbone::forward_maps(const at::Tensor& images) {
  if (!module_.find_method("forward_maps")) {
    fail("{} has no feature maps: script it with a method `forward_maps` that gives [n, c, h, w]", path_.string());
  }
  const at::Tensor maps = run("forward_maps", images);
  if (maps.dim() != 4 || maps.size(0) != images.size(0) || !maps.is_floating_point()) {
    fail("{} gives {} [{}] as the maps of {} images, expected float [n, c, h, w]", path_.string(),
         toString(maps.scalar_type()), fmt::join(maps.sizes(), ", "), images.size(0));
  }
  return maps.to(at::kFloat).contiguous();
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
