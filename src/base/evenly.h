#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace protocom {

/// At most `most` of the numbers below `count`, evenly spread, ascending, from 0 on: floor(i count / taken). All of
/// them if they are no more.
inline std::vector<int64_t> evenly(int64_t count, int64_t most) {
  std::vector<int64_t> numbers;
  const int64_t taken = std::min(count, most);
  for (int64_t i = 0; i < taken; ++i) numbers.push_back(i * count / taken);
  return numbers;
}

}  // namespace protocom
