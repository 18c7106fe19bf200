#pragma once
#include <vector>

namespace protocom {

/// A mean over episodes and the half-width of its 95 % interval, 1.96 * std / sqrt(n) (std with divisor n - 1; 0 for
/// one episode).
struct Estimate {
  double value = 0;  ///< the mean
  double ci95 = 0;
};

/// The estimate from one value per episode. Requires at least one value.
Estimate estimate(const std::vector<double>& values);

}  // namespace protocom
