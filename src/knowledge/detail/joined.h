#pragma once
#include "base/array.h"

namespace protocom {

/// The matrices float32 [n, a] and [n, b] side by side, [n, a + b].
Array beside(const Array& left, const Array& right);

}  // namespace protocom
