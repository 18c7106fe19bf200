#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace protocom {

/// A value per channel, [1, 3, 1, 1].
at::Tensor channel_values(const std::vector<double>& values);

/// The images that one thread is fastest with, where it is so with `large_ones` of 224 x 224 (docs/results/speed.md):
/// with more of them maps leave its caches, and the largest are memory that the system hands out again each time.
int64_t images_of_one_thread(int64_t side, int64_t large_ones);

/// Two images to try a network with, float32 [2, 3, size, size].
at::Tensor trial_images(int64_t size);

}  // namespace protocom
