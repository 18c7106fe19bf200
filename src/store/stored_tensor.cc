#include "store/detail/stored_tensor.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/feature_values.h"

namespace protocom {

// A recognizer has thousands of short vectors: LibTorch's operators would take longer to be called than to run.
bool is_share(const at::Tensor& values) {
  const at::Tensor single = values.to(at::kFloat).contiguous();
  const auto* begin = single.data_ptr<float>();
  return std::all_of(begin, begin + single.numel(), [](float value) { return value >= 0 && value <= 1; });
}

std::string to_blob(const at::Tensor& tensor, at::ScalarType type) {
  const at::Tensor values = tensor.to(type).contiguous();
  return {static_cast<const char*>(values.data_ptr()), values.nbytes()};
}

at::Tensor from_blob(std::string_view blob, at::ScalarType type, int64_t size, const std::string& what) {
  const size_t expected = static_cast<size_t>(size) * c10::elementSize(type);
  if (blob.size() != expected) fail("{} is damaged: {} bytes, expected {}", what, blob.size(), expected);
  at::Tensor values = at::empty({size}, type);
  if (!blob.empty()) std::memcpy(values.data_ptr(), blob.data(), blob.size());
  if (!is_finite(values)) fail("{} is damaged: it holds NaN or infinity", what);
  return values;
}

}  // namespace protocom
