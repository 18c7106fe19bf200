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

/// The mean and interval of the differences `a[i] - b[i]` of two methods on the same episodes. That they met the same
/// easy and hard episodes cancels, so this interval decides, not whether two intervals overlap. Requires vectors of the
/// same size, at least one value.
Estimate paired_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace protocom
