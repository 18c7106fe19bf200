#include "networks/onnx/detail/batch_axis.h"

#include <fmt/ranges.h>

#include <numeric>

#include "base/error.h"

namespace protocom::onnx {
namespace {

int64_t places_before(at::IntArrayRef sizes, size_t axis) {
  return std::accumulate(sizes.begin(), sizes.begin() + static_cast<int64_t>(axis), int64_t{1}, std::multiplies<>());
}

}  // namespace

BatchAxis batch_axis(at::IntArrayRef sizes, const Sizes& of_one) {
  BatchAxis found;
  if (sizes.size() != of_one.size())
    fail("the output for a batch has other axes than for one image: export the encoder with a dynamic batch");
  for (size_t i = 0; i < of_one.size(); ++i) {
    if (sizes[i] == of_one[i]) continue;
    const bool multiple = of_one[i] > 0 && sizes[i] % of_one[i] == 0;
    if (found.images > 1 || !multiple)
      fail("a batch gives [{}], a single image [{}]", fmt::join(sizes, ", "), fmt::join(of_one, ", "));
    found = {static_cast<int64_t>(i), sizes[i] / of_one[i]};
  }
  return found;
}

Sizes reshaped(const Sizes& target, at::IntArrayRef sizes, const Sizes& of_one) {
  const BatchAxis batch = batch_axis(sizes, of_one);
  if (batch.images == 1) return target;
  const int64_t before = places_before(of_one, static_cast<size_t>(batch.axis));
  Sizes result = target;
  for (size_t i = 0; i < target.size(); ++i) {
    if (places_before(target, i) != before) continue;
    result[i] *= batch.images;
    return result;
  }
  fail("the batch is merged into an axis of [{}]", fmt::join(target, ", "));
}

}  // namespace protocom::onnx
