#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "trainers/detail/batch_loader.h"
#include "training/pretrain.h"

namespace protocom {

/// The pixels of a training: where they are stored and where they are augmented.
class TrainingPixels {
 public:
  /// `pixels` uint8 [n, size, size, 3] of which `rows` are trained on. If augmented on the device, they are stored
  /// there from the start when they take at most 4 GiB and fit; otherwise each batch is copied to it.
  TrainingPixels(const at::Tensor& pixels, const std::vector<int64_t>& rows, c10::Device device, AugmentOn where);

  /// Returns what a loader must put into its batches.
  [[nodiscard]] BatchContent content() const { return content_; }
  /// Returns the augmented pixels of a batch, uint8 [b, size, size, 3] on the device.
  [[nodiscard]] at::Tensor take(const Batch& batch) const;

 private:
  c10::Device device_;
  BatchContent content_ = BatchContent::kAugmented;
  at::Tensor resident_;  // [rows, size, size, 3]
};

}  // namespace protocom
