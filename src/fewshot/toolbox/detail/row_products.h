#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// Products by row_kernels.h of float32 tensors on the CPU. BLAS packs both sides into panels, which costs more than
/// the products when one side has few rows, and it does not know that a Gram matrix is symmetric.

/// Vectors [..., d] filled up with zeros to rows of row_kernels.h.
at::Tensor padded_row(const at::Tensor& vectors);

/// Products of rows [b, q, d] with prototypes [b, n, d] or [n, d]: [b, q, n]. Threads share the prototypes where there
/// are thousands; every product is the same to the last bit on any number of them.
at::Tensor row_products(const at::Tensor& rows, const at::Tensor& prototypes);

/// Products of rows [b, u, d] with one another, [b, u, padded_length(u)], filled up with zeros.
at::Tensor row_gram(const at::Tensor& rows);

/// Squared lengths of rows [b, q, d]: [b, q, 1].
at::Tensor row_squares(const at::Tensor& rows);

/// Whether these functions take tensors [b, ..., d], rather than matmul(): nothing else is float32 on the CPU or needs
/// no gradient.
bool are_plain_rows(const at::Tensor& rows);

/// rows [..., q, d] times others [..., n, d] transposed, [..., q, n], by row_products() where that is possible.
at::Tensor inner_products(const at::Tensor& rows, const at::Tensor& others);

}  // namespace protocom
