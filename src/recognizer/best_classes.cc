#include "recognizer/detail/best_classes.h"

#include <algorithm>

namespace protocom {

std::vector<int64_t> best_classes(const float* values, int64_t count, int64_t most) {
  const auto better = [values](int64_t a, int64_t b) {
    return values[a] > values[b] || (values[a] == values[b] && a < b);
  };
  std::vector<int64_t> numbers;  // a heap with the worst in front
  for (int64_t i = 0; i < std::min(count, most); ++i) numbers.push_back(i);
  if (numbers.empty()) return numbers;
  std::make_heap(numbers.begin(), numbers.end(), better);
  float worst = values[numbers.front()];
  for (int64_t i = static_cast<int64_t>(numbers.size()); i < count; ++i) {
    if (!(values[i] > worst)) continue;
    std::pop_heap(numbers.begin(), numbers.end(), better);
    numbers.back() = i;
    std::push_heap(numbers.begin(), numbers.end(), better);
    worst = values[numbers.front()];
  }
  std::sort_heap(numbers.begin(), numbers.end(), better);
  return numbers;
}

}  // namespace protocom
