#include "fewshot/toolbox/detail/row_products.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "fewshot/toolbox/detail/row_kernels.h"

namespace protocom {
namespace {

std::vector<const float*> pointers_to(const float* rows, int64_t count, int64_t width) {
  std::vector<const float*> pointers(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) pointers[static_cast<size_t>(i)] = rows + i * width;
  return pointers;
}

}  // namespace

at::Tensor padded_row(const at::Tensor& vectors) {
  const int64_t missing = padded_length(vectors.size(-1)) - vectors.size(-1);
  return missing == 0 ? vectors.contiguous() : at::constant_pad_nd(vectors, {0, missing});
}

at::Tensor row_products(const at::Tensor& rows, const at::Tensor& prototypes) {
  constexpr int64_t kGrain = 1024;  // prototypes that are worth a thread
  const at::Tensor from = padded_row(rows);
  const at::Tensor to = padded_row(prototypes);
  const int64_t q = from.size(1);
  const int64_t n = to.size(-2);
  const int64_t width = from.size(2);
  at::Tensor products = at::empty({from.size(0), q, n});
  for (int64_t i = 0; i < from.size(0); ++i) {
    const auto pointers = pointers_to(from.data_ptr<float>() + i * q * width, q, width);
    const float* own = to.data_ptr<float>() + (to.dim() == 3 ? i * n * width : 0);
    float* out = products.data_ptr<float>() + i * q * n;
    parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
      row_dots({pointers.data(), q, own + begin * width, end - begin, width, n}, out + begin);
    });
  }
  return products;
}

at::Tensor row_gram(const at::Tensor& rows) {
  const at::Tensor from = padded_row(rows);
  const int64_t u = from.size(1);
  const int64_t dim = from.size(2);
  const int64_t stride = padded_length(u);
  at::Tensor gram = at::zeros({from.size(0), u, stride});
  for (int64_t e = 0; e < from.size(0); ++e) {
    const auto pointers = pointers_to(from.data_ptr<float>() + e * u * dim, u, dim);
    gram_of_rows({pointers.data(), u, dim, stride}, gram.data_ptr<float>() + e * u * stride);
  }
  return gram;
}

at::Tensor row_squares(const at::Tensor& rows) {
  const at::Tensor from = padded_row(rows);
  at::Tensor squares = at::empty({rows.size(0), rows.size(1), 1});
  const int64_t dim = from.size(2);
  for (int64_t i = 0; i < squares.numel(); ++i) {
    const float* row = from.data_ptr<float>() + i * dim;
    squares.data_ptr<float>()[i] = row_dot(row, row, dim);
  }
  return squares;
}

bool are_plain_rows(const at::Tensor& rows) {
  return rows.dim() == 3 && rows.scalar_type() == at::kFloat && rows.device().is_cpu() && !rows.requires_grad();
}

at::Tensor inner_products(const at::Tensor& rows, const at::Tensor& others) {
  if (are_plain_rows(rows) && are_plain_rows(others) && rows.size(0) == others.size(0))
    return row_products(rows, others);
  return at::matmul(rows, others.transpose(-1, -2));
}

}  // namespace protocom
