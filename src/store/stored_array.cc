#include "store/detail/stored_array.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/feature_values.h"

namespace protocom {

bool is_share(const Array& values) {
  const Array single = values.to(NumberType::kFloat32);
  const auto* begin = single.data<float>();
  return std::all_of(begin, begin + single.numel(), [](float value) { return value >= 0 && value <= 1; });
}

std::string to_blob(const Array& array, NumberType type) {
  const Array values = array.to(type);
  return {static_cast<const char*>(values.raw()), values.bytes()};
}

Array from_blob(std::string_view blob, NumberType type, int64_t size, const std::string& what) {
  const auto expected = static_cast<size_t>(size * size_of(type));
  if (blob.size() != expected) fail("{} is damaged: {} bytes, expected {}", what, blob.size(), expected);
  Array values = Array::uninitialised({size}, type);
  if (!blob.empty()) std::memcpy(values.mutable_raw(), blob.data(), blob.size());
  if (!is_finite(values)) fail("{} is damaged: it is not finite", what);
  return values;
}

}  // namespace protocom
