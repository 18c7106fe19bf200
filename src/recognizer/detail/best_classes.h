#pragma once
#include <cstdint>
#include <vector>

namespace protocom {

/// Returns the indices of the `most` largest of a row's values [c], largest first; equal values in order of index.
/// Makes one pass and does not sort the rest: there may be ten thousand values for an answer of five.
std::vector<int64_t> best_classes(const float* values, int64_t count, int64_t most);

}  // namespace protocom
