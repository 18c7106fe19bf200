#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// rows [..., q, d] times others [..., n, d] transposed, [..., q, n]. Float32 tensors [b, q, d] and [b, n, d] on the
/// CPU that need no gradient go through row_kernels.h: what one row gives then depends on no other.
at::Tensor inner_products(const at::Tensor& rows, const at::Tensor& others);

/// Squared lengths of rows [..., q, d], in the same way: [..., q, 1].
at::Tensor row_squares(const at::Tensor& rows);

}  // namespace protocom
