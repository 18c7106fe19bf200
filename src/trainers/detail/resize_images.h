#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace protocom {

/// Resizes images [n, 3, h, w] to `side` x `side`, bilinear with the filter widened to the scale (no aliasing); returns
/// them unchanged if they have that side.
at::Tensor resize_images(const at::Tensor& images, int64_t side);

}  // namespace protocom
