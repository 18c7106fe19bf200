#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/array.h"

namespace protocom {

/// The sizes of numbers that features may have. Methods square features and multiply their variances with one another,
/// in float32: beyond the first these overflow to infinity, and when no number exceeds the second they vanish. Features
/// of encoders are of 0.01 to 1000.
constexpr float kLargestFeature = 1e8F;
constexpr float kSmallestFeature = 1e-8F;  ///< the least size that the largest number of several features may have

/// What is wrong with features, and where.
struct BadFeatures {
  int64_t row = 0;     ///< the first that is wrong
  int64_t rows = 0;    ///< how many are
  std::string reason;  ///< "NaN or infinity"
};

/// Looks at features [n, ...] of any floating type: whether they hold NaN, infinity, or numbers too large to compute
/// with, or are all too small (unless they are all zero).
std::optional<BadFeatures> find_bad_features(const Array& features);

/// Whether no number is NaN or infinite, of float32 or what becomes that.
bool is_finite(const Array& values);

/// Throws Error that begins with `where` for such features.
void check_features(const Array& features, const std::string& where);

}  // namespace protocom
