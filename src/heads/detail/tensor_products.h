#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// Returns rows [..., q, d] times others [..., n, d] transposed, [..., q, n]. Float32 tensors [b, q, d] and [b, n, d]
/// on the CPU that need no gradient go through row_kernels.h: the result of a row then does not depend on the other
/// rows.
at::Tensor inner_products(const at::Tensor& rows, const at::Tensor& others);

/// Returns the squared lengths of rows [..., q, d], computed likewise: [..., q, 1].
at::Tensor row_squares(const at::Tensor& rows);

}  // namespace protocom
