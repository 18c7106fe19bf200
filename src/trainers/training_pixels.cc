#include "trainers/detail/training_pixels.h"

#include <torch/torch.h>

#include "base/log.h"
#include "trainers/detail/augment_batch.h"

namespace protocom {
namespace {

constexpr int64_t kMostResident = int64_t{4} << 30;  // bytes; leaves a small GPU enough room to train

AugmentOn resolve(AugmentOn where, c10::Device device) {
  if (where != AugmentOn::kAuto) return where;
  return device.is_cuda() ? AugmentOn::kDevice : AugmentOn::kHost;
}

/// Returns the rows' pixels on the device; undefined if they do not fit.
at::Tensor make_resident(const at::Tensor& pixels, const std::vector<int64_t>& rows, c10::Device device) {
  const auto count = static_cast<int64_t>(rows.size());
  if (count * pixels[0].numel() > kMostResident) return {};
  try {
    return pixels.index_select(0, at::tensor(rows, at::kLong)).to(device);
  } catch (const c10::OutOfMemoryError&) {
    logger().warn("{} has too little memory for the training images: copying them batch by batch", device.str());
    return {};
  }
}

at::Tensor moved(const at::Tensor& tensor, c10::Device device) {
  return tensor.to(device, tensor.scalar_type(), /*non_blocking=*/true);
}

}  // namespace

TrainingPixels::TrainingPixels(const at::Tensor& pixels, const std::vector<int64_t>& rows, c10::Device device,
                               AugmentOn where)
    : device_(device) {
  if (resolve(where, device) == AugmentOn::kHost) return;
  resident_ = make_resident(pixels, rows, device);
  content_ = resident_.defined() ? BatchContent::kDraws : BatchContent::kRaw;
}

at::Tensor TrainingPixels::take(const Batch& batch) const {
  if (content_ == BatchContent::kAugmented) return moved(batch.pixels, device_);
  const at::Tensor source = content_ == BatchContent::kDraws ? resident_ : moved(batch.pixels, device_);
  return augment_batch(source, moved(batch.rows, device_), batch.draws.to(device_));
}

}  // namespace protocom
