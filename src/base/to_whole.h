#pragma once
#include <cmath>
#include <limits>

#include "base/error.h"

namespace protocom {

/// Returns `value` truncated; values outside the range of `Whole` become its nearest limit. Use it for every conversion
/// of an external number, or one computed from it: a cast of 1e300 is undefined. Throws Error for NaN.
template <typename Whole>
Whole to_whole(double value) {
  using Limits = std::numeric_limits<Whole>;
  static_assert(Limits::is_integer);
  if (std::isnan(value)) fail("expected a number, found nan");
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  if (value >= static_cast<double>(Limits::max())) return Limits::max();  // rounded up if double is less exact
  return static_cast<Whole>(value);
}

}  // namespace protocom
