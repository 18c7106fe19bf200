#pragma once
#include "base/array.h"

namespace protocom {

/// The matrices float32 [n, a] and [n, b] beside one another, [n, a + b].
Array beside(const Array& left, const Array& right);
/// The matrices float32 [n, d] and [m, d] below one another, [n + m, d].
Array below(const Array& upper, const Array& lower);

}  // namespace protocom
