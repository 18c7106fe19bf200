#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace protocom {

/// Images [n, 3, h, w] brought to `side` x `side`, bilinear with the filter widened to the scale (no aliasing); as they
/// are where they have that side.
at::Tensor resize_images(const at::Tensor& images, int64_t side);

}  // namespace protocom
