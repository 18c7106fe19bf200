#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "training/augment.h"

namespace protocom {

/// The random variations of b images as tensors, which can be moved to the images' device.
struct AugmentDraws {
  at::Tensor moves;    ///< int64 [b, 4]: down, right, flip (0 or 1), quarter turns
  at::Tensor colours;  ///< float32 [b, 3]: brightness, contrast, saturation

  [[nodiscard]] AugmentDraws to(c10::Device device) const;
};

/// Stacks the draws. `turns` [b] are quarter turns after everything else; empty: none.
AugmentDraws stack_draws(const std::vector<AugmentDraw>& draws, const std::vector<int64_t>& turns = {});

/// Applies augment() and rotate_quarters() to the images `rows` (int64 [b]) of `pixels` (uint8 [n, size, size, 3]), all
/// at once on the device of the three; uint8 [b, size, size, 3]. Equal to them up to one level, where float sums round
/// differently.
at::Tensor augment_batch(const at::Tensor& pixels, const at::Tensor& rows, const AugmentDraws& draws);

}  // namespace protocom
