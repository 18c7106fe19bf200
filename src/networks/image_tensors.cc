#include "networks/detail/image_tensors.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace protocom {

at::Tensor channel_values(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).to(at::kFloat).view({1, 3, 1, 1});
}

int64_t images_of_one_thread(int64_t side, int64_t large_ones) {
  constexpr int64_t kPixels = int64_t{224} * 224;
  constexpr int64_t kMost = 8;
  return std::clamp<int64_t>(large_ones * kPixels / (side * side), 1, kMost);
}

at::Tensor trial_images(int64_t size) {
  return at::arange(int64_t{6} * size * size, at::kFloat).sin().mul(0.5).add(0.5).view({2, 3, size, size});
}

}  // namespace protocom
