#include "recognizer/detail/best_classes.h"

#include <ATen/Dispatch.h>

#include <algorithm>

namespace protocom {
namespace {

/// `numbers` is a heap with the worst in front.
template <typename Value>
std::vector<int64_t> best_of(const Value* values, int64_t count, int64_t most) {
  const auto better = [values](int64_t a, int64_t b) {
    return values[a] > values[b] || (values[a] == values[b] && a < b);
  };
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < std::min(count, most); ++i) numbers.push_back(i);
  if (numbers.empty()) return numbers;
  std::make_heap(numbers.begin(), numbers.end(), better);
  Value worst = values[numbers.front()];
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

}  // namespace

std::vector<int64_t> best_classes(const at::Tensor& row, int64_t most) {
  const at::Tensor values = row.contiguous();
  std::vector<int64_t> best;
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "best_classes",
                             [&] { best = best_of(values.data_ptr<scalar_t>(), values.numel(), most); });
  return best;
}

}  // namespace protocom
