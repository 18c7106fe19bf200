#include "networks/detail/module_backbone.h"

#include <fmt/ranges.h>

#include <cmath>

#include "base/error.h"
#include "networks/detail/architecture.h"
#include "networks/detail/image_tensors.h"

namespace protocom {
namespace {

constexpr int64_t kSmallestImage = 16;  // four 2x2 poolings

void check_options(const NetworkOptions& options) {
  if (options.image_size < kSmallestImage) {
    fail_usage("images of {0}x{0} pixels are too small for a backbone: expected at least {1}x{1}", options.image_size,
               kSmallestImage);
  }
  if (options.image_size > kLargestImage)
    fail_usage("images of {0}x{0} pixels are too large for a backbone: expected at most {1}x{1}", options.image_size,
               kLargestImage);
  if (options.mean.size() != 3 || options.std.size() != 3) {
    fail_usage("a backbone's normalisation needs 3 means and 3 standard deviations, found {} and {}",
               options.mean.size(), options.std.size());
  }
  for (const double mean : options.mean) {
    if (!std::isfinite(mean))
      fail_usage("means of a backbone: expected finite numbers, found {}", fmt::join(options.mean, ", "));
  }
  for (const double deviation : options.std) {
    if (!(deviation > 0 && std::isfinite(deviation)))
      fail_usage("standard deviations of a backbone: expected numbers above 0, found {}", fmt::join(options.std, ", "));
  }
  for (size_t c = 0; c < options.mean.size(); ++c) {
    if (const std::string wrong = wrong_statistics(options.mean[c], options.std[c]); !wrong.empty())
      fail_usage("a backbone has {}", wrong);
  }
}

}  // namespace

void check_images(const at::Tensor& images) {
  if (images.dim() == 4 && images.size(1) == 3 && images.is_floating_point()) return;
  fail("a backbone expects float images of shape [n, 3, height, width], found {} [{}]", toString(images.scalar_type()),
       fmt::join(images.sizes(), ", "));
}

ModuleBackbone::ModuleBackbone(const NetworkOptions& options) : options_(options) {
  check_options(options);
  module_ = make_module(options.architecture);
  mean_ = channel_values(options.mean);
  std_ = channel_values(options.std);
  // oneDNN's convolutions are fastest on channels-last tensors, especially in bfloat16.
  ModuleBackbone::to(c10::Device(c10::kCPU));
  ModuleBackbone::set_mode(BackboneMode::kUse);
}

at::Tensor ModuleBackbone::normalised(const at::Tensor& images) const {
  return ((images - mean_) / std_).contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor ModuleBackbone::forward(const at::Tensor& images) {
  check_images(images);
  torch::AutoGradMode grad(mode_ != BackboneMode::kUse && at::GradMode::is_enabled());
  return module_->forward(normalised(images)).to(at::kFloat);
}

at::Tensor ModuleBackbone::forward_maps(const at::Tensor& images) {
  check_images(images);
  torch::AutoGradMode grad(mode_ != BackboneMode::kUse && at::GradMode::is_enabled());
  return module_->forward_maps(normalised(images)).to(at::kFloat).contiguous();
}

void ModuleBackbone::set_mode(BackboneMode mode) {
  mode_ = mode;
  module_->train(mode == BackboneMode::kTrain);
}

void ModuleBackbone::to(c10::Device device) {
  module_->to(device);
  torch::NoGradGuard no_grad;
  for (auto& parameter : module_->parameters()) {
    if (parameter.dim() == 4) parameter.set_data(parameter.data().contiguous(at::MemoryFormat::ChannelsLast));
  }
  if (device.is_cuda()) at::globalContext().setBenchmarkCuDNN(true);  // batches have one size: search once
  mean_ = mean_.to(device);
  std_ = std_.to(device);
}

std::vector<std::pair<std::string, at::Tensor>> ModuleBackbone::state_dict() const {
  std::vector<std::pair<std::string, at::Tensor>> entries;
  for (const auto& item : module_->named_parameters()) entries.emplace_back(item.key(), item.value());
  for (const auto& item : module_->named_buffers()) entries.emplace_back(item.key(), item.value());
  return entries;
}

Preprocessing Backbone::preprocessing() const { return {image_size()}; }

at::Tensor Backbone::forward_maps(const at::Tensor& /*images*/) { fail("this backbone has no feature maps"); }

std::unique_ptr<Backbone> make_backbone(const NetworkOptions& options) {
  return std::make_unique<ModuleBackbone>(options);
}

}  // namespace protocom
