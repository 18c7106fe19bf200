#pragma once
#include <cmath>

namespace protocom {

/// Returns the derivative of log Gamma at x > 0: recurrence up to 6, then the asymptotic series (Abramowitz and Stegun
/// 6.3.18), accurate to 1e-10.
inline double digamma(double x) {
  double shift = 0;
  for (; x < 6; ++x) shift -= 1 / x;
  const double y = 1 / (x * x);
  return shift + std::log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y / 132))));
}

}  // namespace protocom
