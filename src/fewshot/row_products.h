#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// Vectors [..., d] filled up with zeros to rows of row_kernels.h.
at::Tensor padded_row(const at::Tensor& vectors);

/// Products of rows [b, q, width] with prototypes [b, n, width] or [n, width]: [b, q, n], by row_kernels.h. BLAS packs
/// both into panels, which costs more than the products when n is small. Threads share the prototypes where there are
/// thousands; every product is the same to the last bit on any number of them.
at::Tensor row_products(const at::Tensor& rows, const at::Tensor& prototypes);

}  // namespace protocom
