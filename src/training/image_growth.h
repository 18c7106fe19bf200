#pragma once
#include <cstdint>

namespace protocom {

/// Training images that start small and grow (progressive resizing): early epochs cost less and learn coarse shapes,
/// the last ones see images at full size. A convolution's time is proportional to the square of the side.
struct ImageGrowth {
  int64_t first_side = 0;  ///< pixels in the first epoch; 0: no growth
  double share = 0.7;      ///< of the epochs, after which the images have full size; in (0, 1]

  /// Returns the side in an epoch, 0 <= epoch < epochs: linear from `first_side` to `side`, rounded to an even number.
  [[nodiscard]] int64_t side_at(int64_t epoch, int64_t epochs, int64_t side) const;
};

}  // namespace protocom
