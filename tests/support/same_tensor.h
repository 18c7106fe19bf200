#pragma once
#include <ATen/ATen.h>

namespace protocom::testing {

/// Returns whether type, shape and every value are the same.
inline bool same(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && at::equal(a, b);
}

}  // namespace protocom::testing
