#pragma once
#include "protocom/export.h"

namespace protocom::v0 {

/// A mean over episodes and the half-width of its 95 % interval, 1.96 * std / sqrt(n) (std with divisor n - 1; 0 for
/// one episode).
struct Estimate {
  double value = 0;  ///< the mean
  double ci95 = 0;
};

}  // namespace protocom::v0

namespace protocom {
using v0::Estimate;
}  // namespace protocom
