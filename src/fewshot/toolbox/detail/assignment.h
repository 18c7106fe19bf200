#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"

namespace protocom {

/// Returns a different column for each row of `gain` [r, c], r <= c, so that the sum of the gains is largest (the
/// linear assignment problem, by shortest augmenting paths: Jonker, Volgenant 1987). O(r^2 c). Throws Error for more
/// rows than columns.
std::vector<int64_t> best_assignment(const DoubleMatrix& gain);

}  // namespace protocom
