#pragma once
#include <cstdint>
#include <vector>

namespace protocom {

/// The numbers of the at most `most` greatest of a row's values [c], greatest first; of equal ones
/// the lower number first. One pass, without looking at the others again: there may be ten thousand for an answer of
/// five.
std::vector<int64_t> best_classes(const float* values, int64_t count, int64_t most);

}  // namespace protocom
