#pragma once
#include <cmath>
#include <limits>

#include "base/error.h"

namespace protocom {

/// `value` without its fraction; what is beyond the range of `Whole` becomes the end of it. Every number that came from
/// outside, or was computed of one that did, becomes a whole one by this: what a cast makes of 1e300 is undefined.
/// Throws Error for NaN.
template <typename Whole>
Whole to_whole(double value) {
  using Limits = std::numeric_limits<Whole>;
  static_assert(Limits::is_integer);
  if (std::isnan(value)) fail("expected a number, found nan");
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  if (value >= static_cast<double>(Limits::max())) return Limits::max();  // rounded up where double is less exact
  return static_cast<Whole>(value);
}

}  // namespace protocom
