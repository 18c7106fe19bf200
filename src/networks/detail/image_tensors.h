#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace protocom {

/// Returns one value per channel, [1, 3, 1, 1].
at::Tensor channel_values(const std::vector<double>& values);

/// Returns the number of images of a pass that is fastest on one thread, given that it is `large_ones` for 224 x 224
/// (docs/results/speed.md): with more, maps leave its caches, and the largest are allocated anew by the system each
/// time.
int64_t images_of_one_thread(int64_t side, int64_t large_ones);

/// Returns two images for a trial of a network, float32 [2, 3, size, size].
at::Tensor trial_images(int64_t size);

}  // namespace protocom
