#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/array.h"

namespace protocom {

/// The largest absolute value in features. Methods square features and multiply their variances with one another, in
/// float32: values above this overflow to infinity, and if all are below kSmallestFeature they vanish. Features of
/// encoders are 0.01 to 1000.
constexpr float kLargestFeature = 1e8F;
constexpr float kSmallestFeature = 1e-8F;  ///< the least that the largest absolute value of several features may be

/// Description of invalid features.
struct BadFeatures {
  int64_t row = 0;     ///< the first invalid one
  int64_t rows = 0;    ///< number of invalid ones
  std::string reason;  ///< "NaN or infinity"
};

/// Checks features [n, ...] of any floating type for NaN, infinity, numbers too large to compute with, and for only too
/// small ones (unless they are all zero).
std::optional<BadFeatures> find_bad_features(const Array& features);

/// Whether no number is NaN or infinite, for float32 or types converted to it.
bool is_finite(const Array& values);

/// Throws Error that begins with `where` for invalid features.
void check_features(const Array& features, const std::string& where);

}  // namespace protocom
