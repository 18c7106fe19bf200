#include "training/image_growth.h"

#include <algorithm>
#include <cmath>

#include "base/to_whole.h"

namespace protocom {

int64_t ImageGrowth::side_at(int64_t epoch, int64_t epochs, int64_t side) const {
  if (first_side == 0) return side;
  const double grown = std::min(1.0, static_cast<double>(epoch) / (share * static_cast<double>(epochs)));
  const int64_t even = 2 * to_whole<int64_t>(std::round(0.5 * static_cast<double>(side - first_side) * grown));
  return std::min(side, first_side + even);
}

}  // namespace protocom
