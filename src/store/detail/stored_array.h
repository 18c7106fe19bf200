#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/array.h"

namespace protocom {

/// Returns the values of an array as a recognizer's blob, little-endian.
std::string to_blob(const Array& array, NumberType type);

/// Whether all numbers are in [0, 1].
bool is_share(const Array& values);

/// Reads a blob as a vector of `size` numbers of `type`. Throws Error that says `what` is damaged if it has another
/// length or numbers that are not finite.
Array from_blob(std::string_view blob, NumberType type, int64_t size, const std::string& what);

}  // namespace protocom
