#include "heads/detail/tensor_products.h"

#include <ATen/ATen.h>

#include <vector>

#include "fewshot/row_kernels.h"

namespace protocom {
namespace {

/// Returns vectors [b, n, d] padded with zeros.
at::Tensor padded(const at::Tensor& vectors) {
  const int64_t missing = padded_length(vectors.size(-1)) - vectors.size(-1);
  return missing == 0 ? vectors.contiguous() : at::constant_pad_nd(vectors, {0, missing});
}

bool are_plain_rows(const at::Tensor& rows) {
  return rows.dim() == 3 && rows.scalar_type() == at::kFloat && rows.device().is_cpu() && !rows.requires_grad();
}

}  // namespace

at::Tensor inner_products(const at::Tensor& rows, const at::Tensor& others) {
  if (!are_plain_rows(rows) || !are_plain_rows(others) || rows.size(0) != others.size(0))
    return at::matmul(rows, others.transpose(-1, -2));
  const at::Tensor from = padded(rows), to = padded(others);
  const int64_t q = from.size(1), n = to.size(1), width = from.size(2);
  at::Tensor products = at::empty({from.size(0), q, n});
  std::vector<const float*> pointers(static_cast<size_t>(q));
  for (int64_t i = 0; i < from.size(0); ++i) {
    for (int64_t j = 0; j < q; ++j) pointers[static_cast<size_t>(j)] = from.data_ptr<float>() + (i * q + j) * width;
    row_dots({pointers.data(), q, to.data_ptr<float>() + i * n * width, n, width, n},
             products.data_ptr<float>() + i * q * n);
  }
  return products;
}

at::Tensor row_squares(const at::Tensor& rows) {
  if (!are_plain_rows(rows)) return rows.square().sum(-1, /*keepdim=*/true);
  const at::Tensor from = padded(rows);
  at::Tensor squares = at::empty({rows.size(0), rows.size(1), 1});
  const int64_t dim = from.size(2);
  for (int64_t i = 0; i < squares.numel(); ++i) {
    const float* row = from.data_ptr<float>() + i * dim;
    squares.data_ptr<float>()[i] = row_dot(row, row, dim);
  }
  return squares;
}

}  // namespace protocom
