#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "images/preprocessing.h"

namespace protocom {

/// Throws UsageError for images that no backbone takes.
void check_image_size(int64_t image_size);

/// What a file's images are brought to: what its user says, else what the file states, else plain images of the side
/// `otherwise`. Says which, and throws UsageError where nobody says a size.
Preprocessing choose_preprocessing(const Preprocessing& asked, const Preprocessing& stated, int64_t otherwise,
                                   const std::string& where);

/// A value per channel, [1, 3, 1, 1].
at::Tensor channel_values(const std::vector<double>& values);

/// The images that one thread is fastest with, where it is so with `large_ones` of 224 x 224 (docs/results/speed.md):
/// with more of them maps leave its caches, and the largest are memory that the system hands out anew each time.
int64_t images_of_one_thread(int64_t side, int64_t large_ones);

/// Two images to try a network with, float32 [2, 3, size, size].
at::Tensor trial_images(int64_t size);

}  // namespace protocom
