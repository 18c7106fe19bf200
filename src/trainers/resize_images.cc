#include "trainers/detail/resize_images.h"

#include <torch/torch.h>

namespace protocom {

at::Tensor resize_images(const at::Tensor& images, int64_t side) {
  if (images.size(2) == side && images.size(3) == side) return images;
  return at::_upsample_bilinear2d_aa(images, {side, side}, /*align_corners=*/false);
}

}  // namespace protocom
