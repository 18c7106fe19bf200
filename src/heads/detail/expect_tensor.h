#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace protocom {

/// The required type, shape and values of a caller's tensor.
struct TensorNeed {
  std::string_view what;       ///< for the message: "prototypes"
  at::ScalarType type;         ///< at::kFloat, at::kLong, ...
  std::vector<int64_t> shape;  ///< -1: any size
  c10::Device device = c10::Device(c10::kCPU);
};

/// Throws Error that names what was expected and found unless the tensor is as required.
void expect_tensor(const at::Tensor& tensor, const TensorNeed& need);

/// Throws Error unless every value of the int64 tensor on any device lies in [0, bound).
void expect_below(const at::Tensor& indices, int64_t bound, std::string_view what);

}  // namespace protocom
