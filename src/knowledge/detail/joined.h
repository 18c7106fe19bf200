#pragma once
#include "base/array.h"

namespace protocom {

/// Concatenates matrices float32 [n, a] and [n, b] to [n, a + b].
Array beside(const Array& left, const Array& right);

}  // namespace protocom
