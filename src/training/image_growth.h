#pragma once
#include <cstdint>

namespace protocom {

/// Training images that begin small and grow (progressive resizing): early epochs cost less and learn coarse forms, the
/// last ones see images as they are. A convolution's time falls with the square of the side.
struct ImageGrowth {
  int64_t first_side = 0;  ///< pixels in the first epoch; 0: no growth
  double share = 0.7;      ///< of the epochs, after which the images have their own side; in (0, 1]

  /// The side in an epoch, 0 <= epoch < epochs: from `first_side` along a line to `side`, rounded to an even number.
  [[nodiscard]] int64_t side_at(int64_t epoch, int64_t epochs, int64_t side) const;
};

}  // namespace protocom
