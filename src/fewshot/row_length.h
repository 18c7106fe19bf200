#pragma once
#include <cstdint>

namespace protocom {

/// Rows passed to inner loops have a length that is a multiple of this, filled up with zeros.
inline constexpr int64_t kRowMultiple = 16;

/// `length` rounded up to a multiple of kRowMultiple.
constexpr int64_t padded_length(int64_t length) { return (length + kRowMultiple - 1) / kRowMultiple * kRowMultiple; }

}  // namespace protocom
