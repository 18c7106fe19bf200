#include "base/feature_values.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace protocom {
namespace {

constexpr int32_t kMagnitudeBits = 0x7fffffff;

/// Returns the bits of the largest absolute value: absolute values have the order of their bits, with infinity and NaN
/// last. Branch-free, so that the compiler vectorises it.
int32_t largest_bits(const float* values, int64_t count) {
  int32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    int32_t bits = 0;
    std::memcpy(&bits, values + i, sizeof(bits));
    largest = std::max(largest, bits & kMagnitudeBits);
  }
  return largest;
}

float size_of(int32_t bits) {
  float size = 0;
  std::memcpy(&size, &bits, sizeof(size));
  return size;
}

BadFeatures describe(const float* values, int64_t rows, int64_t width) {
  constexpr const char* kAdvice = "0.01 to 1000 is usual: scale all features alike";
  BadFeatures bad;
  for (int64_t row = rows - 1; row >= 0; --row) {
    const float size = size_of(largest_bits(values + row * width, width));
    if (size <= kLargestFeature) continue;
    ++bad.rows;
    bad.row = row;
    bad.reason = size < std::numeric_limits<float>::infinity()
                     ? fmt::format("a number of size {:.2g}, more than {:g} ({})", size, kLargestFeature, kAdvice)
                     : "NaN or infinity";
  }
  if (bad.rows > 0) return bad;
  bad.rows = rows;
  bad.reason = fmt::format("no number of at least {:g} ({})", kSmallestFeature, kAdvice);
  return bad;
}

}  // namespace

std::optional<BadFeatures> find_bad_features(const Array& features) {
  const Array single = features.to(NumberType::kFloat32);
  const auto* values = single.data<float>();
  const float size = size_of(largest_bits(values, single.numel()));
  if (size <= kLargestFeature && (size == 0 || size >= kSmallestFeature)) return std::nullopt;
  return describe(values, single.size(0), single.numel() / single.size(0));
}

bool is_finite(const Array& values) {
  const Array single = values.to(NumberType::kFloat32);
  return size_of(largest_bits(single.data<float>(), single.numel())) < std::numeric_limits<float>::infinity();
}

void check_features(const Array& features, const std::string& where) {
  if (const auto bad = find_bad_features(features))
    fail("{}: features hold {} in {} rows, first in row {}", where, bad->reason, bad->rows, bad->row);
}

}  // namespace protocom
