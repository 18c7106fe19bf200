#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "training/augment.h"

namespace protocom {

/// The random variations of b images as tensors, so that they can go where the images are.
struct AugmentDraws {
  at::Tensor moves;    ///< int64 [b, 4]: down, right, flip (0 or 1), quarter turns
  at::Tensor colours;  ///< float32 [b, 3]: brightness, contrast, saturation

  [[nodiscard]] AugmentDraws to(c10::Device device) const;
};

/// `turns` [b] are quarter turns after everything else; empty: none.
AugmentDraws stack_draws(const std::vector<AugmentDraw>& draws, const std::vector<int64_t>& turns = {});

/// augment() and rotate_quarters() of the images `rows` (int64 [b]) of `pixels` (uint8 [n, size, size, 3]), all at once
/// on the device where all three lie; uint8 [b, size, size, 3]. Equal to them up to one level, where float sums round
/// apart.
at::Tensor augment_batch(const at::Tensor& pixels, const at::Tensor& rows, const AugmentDraws& draws);

}  // namespace protocom
