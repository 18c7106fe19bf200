#pragma once

namespace protocom {

/// log 2 pi, a term of a Gaussian's log density in each dimension.
constexpr double kLogTwoPi = 1.8378770664093454836;

}  // namespace protocom
