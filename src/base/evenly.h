#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace protocom {

/// Returns at most `most` of the numbers below `count`, evenly spaced, ascending, starting at 0:
/// floor(i count / taken). All of them if there are no more.
inline std::vector<int64_t> evenly(int64_t count, int64_t most) {
  std::vector<int64_t> numbers;
  const int64_t taken = std::min(count, most);
  for (int64_t i = 0; i < taken; ++i) numbers.push_back(i * count / taken);
  return numbers;
}

}  // namespace protocom
