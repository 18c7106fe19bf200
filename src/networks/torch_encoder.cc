#include "networks/torch_encoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "encoders/output_checks.h"
#include "networks/device_precision.h"
#include "tensors/device.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

/// Pixels per forward pass on the processor: with more, the maps inside a backbone leave its cache.
constexpr int64_t kPixelsAPass = int64_t{64} * 64 * 64;

int64_t images_a_pass(const Backbone& backbone, const at::Tensor& pixels, c10::Device device) {
  if (device.type() != c10::kCPU) return pixels.size(0);
  const int64_t fit = std::max<int64_t>(1, kPixelsAPass / (pixels.size(1) * pixels.size(2)));
  return std::min(fit, backbone.most_images_a_pass());
}

/// Returns the results of `pass` for float images [m, 3, size, size] made from pixels uint8 [n, size, size, 3]; on the
/// CPU.
template <typename Pass>
at::Tensor in_passes(const Backbone& backbone, const Array& given, c10::Device device, const Pass& pass) {
  const at::Tensor pixels = tensor_of(given);
  std::vector<at::Tensor> parts;
  for (const at::Tensor& some : pixels.split(images_a_pass(backbone, pixels, device)))
    parts.push_back(pass(to_float_images(some.to(device))).to(at::kCPU));
  return at::cat(parts);
}

}  // namespace

TorchEncoder::TorchEncoder(std::unique_ptr<Backbone> backbone) : own_(std::move(backbone)), backbone_(*own_) {}

TorchEncoder::TorchEncoder(Backbone& backbone) : backbone_(backbone) {}

void TorchEncoder::prepare(const EncoderTarget& place) {
  const c10::Device device = parse_device(place.device);
  resolve_precision(place.precision, device);  // throws before the first image
  backbone_.to(device);
  backbone_.set_mode(BackboneMode::kUse);
  device_ = device;
  precision_ = place.precision;
  prepared_ = true;
}

void TorchEncoder::prepare_once() {
  if (!prepared_) prepare({});
}

void TorchEncoder::freeze() {
  prepare_once();
  if (device_.is_cpu() && resolve_precision(precision_, device_) == Precision::kFloat32) backbone_.freeze();
}

Array TorchEncoder::features(const Array& pixels) {
  prepare_once();
  const at::NoGradGuard no_grad;
  const PrecisionScope scope(precision_, device_);
  const at::Tensor made =
      in_passes(backbone_, pixels, device_, [&](const at::Tensor& images) { return backbone_.forward(images); });
  check_feature_length(made.size(1), pixels.size(1), dim(), image_size());
  return array_of(made.to(at::kFloat));
}

Array TorchEncoder::maps(const Array& pixels) {
  prepare_once();
  const at::NoGradGuard no_grad;
  const PrecisionScope scope(precision_, device_);
  return array_of(in_passes(backbone_, pixels, device_,
                            [&](const at::Tensor& images) { return backbone_.forward_maps(images).to(at::kHalf); }));
}

at::Tensor to_float_images(const at::Tensor& pixels) {
  // A permuted NHWC tensor already is an NCHW tensor in channels-last format: no pixel is moved.
  return pixels.permute({0, 3, 1, 2}).to(at::kFloat).mul_(1.0F / 255.0F);  // [n, 3, size, size]
}

}  // namespace protocom
