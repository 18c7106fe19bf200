#pragma once
#include <cstdint>

namespace protocom {

/// Rows passed to inner loops are padded with zeros to a multiple of this length.
inline constexpr int64_t kRowMultiple = 16;

/// Returns `length` rounded up to a multiple of kRowMultiple.
constexpr int64_t padded_length(int64_t length) { return (length + kRowMultiple - 1) / kRowMultiple * kRowMultiple; }

}  // namespace protocom
