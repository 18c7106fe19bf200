#include "fewshot/row_products.h"

#include <ATen/ATen.h>

#include <vector>

#include "fewshot/row_kernels.h"
#include "protocom/core/parallel.h"

namespace protocom {

at::Tensor padded_row(const at::Tensor& vectors) {
  const int64_t length = vectors.size(-1);
  return at::constant_pad_nd(vectors, {0, padded_length(length) - length});
}

at::Tensor row_products(const at::Tensor& rows, const at::Tensor& prototypes) {
  constexpr int64_t kGrain = 1024;  // prototypes that are worth a thread
  const at::Tensor from = rows.contiguous();
  const at::Tensor to = prototypes.contiguous();
  const int64_t b = from.size(0);
  const int64_t q = from.size(1);
  const int64_t n = to.size(-2);
  const int64_t width = from.size(2);
  at::Tensor products = at::empty({b, q, n});
  std::vector<const float*> pointers(static_cast<size_t>(q));
  for (int64_t i = 0; i < b; ++i) {
    for (int64_t j = 0; j < q; ++j) pointers[static_cast<size_t>(j)] = from.data_ptr<float>() + (i * q + j) * width;
    const float* own = to.data_ptr<float>() + (to.dim() == 3 ? i * n * width : 0);
    float* out = products.data_ptr<float>() + i * q * n;
    parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
      row_dots({pointers.data(), q, own + begin * width, end - begin, width, n}, out + begin);
    });
  }
  return products;
}

}  // namespace protocom
