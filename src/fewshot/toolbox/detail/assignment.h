#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

namespace protocom {

/// For each row of `gain` float64 [r, c], r <= c, a column of its own so that the sum of the gains is largest (the
/// linear assignment problem, by shortest augmenting paths: Jonker, Volgenant 1987). O(r^2 c). Throws Error for more
/// rows than columns.
std::vector<int64_t> best_assignment(const at::Tensor& gain);

}  // namespace protocom
