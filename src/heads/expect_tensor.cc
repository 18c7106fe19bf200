#include "heads/detail/expect_tensor.h"

#include <ATen/ATen.h>

#include "base/error.h"

namespace protocom {
namespace {

std::string name_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kLong:
      return "int64";
    default:
      return c10::toString(type);
  }
}

std::string describe(at::ScalarType type, at::IntArrayRef shape, c10::Device device) {
  std::string sizes;
  for (const int64_t size : shape)
    sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", size < 0 ? "any" : std::to_string(size));
  return fmt::format("{} [{}] on {}", name_of(type), sizes, device.str());
}

bool fits(at::IntArrayRef found, const std::vector<int64_t>& expected) {
  if (found.size() != expected.size()) return false;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] >= 0 && found[i] != expected[i]) return false;
  }
  return true;
}

}  // namespace

void expect_tensor(const at::Tensor& tensor, const TensorNeed& need) {
  if (tensor.defined() && tensor.scalar_type() == need.type && tensor.device() == need.device &&
      fits(tensor.sizes(), need.shape))
    return;
  fail("{}: expected {}, found {}", need.what, describe(need.type, need.shape, need.device),
       tensor.defined() ? describe(tensor.scalar_type(), tensor.sizes(), tensor.device()) : "an undefined tensor");
}

void expect_below(const at::Tensor& indices, int64_t bound, std::string_view what) {
  if (indices.numel() == 0) return;
  const auto least = indices.min().item<int64_t>();
  const auto most = indices.max().item<int64_t>();
  if (least < 0 || most >= bound)
    fail("{}: expected values in [0, {}), found {}", what, bound, least < 0 ? least : most);
}

}  // namespace protocom
