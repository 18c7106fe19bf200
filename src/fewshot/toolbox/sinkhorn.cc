#include "fewshot/toolbox/detail/sinkhorn.h"

#include <ATen/ATen.h>

#include <vector>

#include "fewshot/toolbox/detail/row_kernels.h"

namespace protocom {
namespace {

/// exp(logits) up to a factor of each row, class by class and filled up with zeros: [b, n, padded_length(u)].
at::Tensor kernels_of(const at::Tensor& logits, const at::Tensor& rows) {
  const int64_t u = logits.size(1);
  at::Tensor kernel = (logits - logits.amax(-1, true)).exp_().to(at::kFloat);
  if (rows.defined()) kernel = kernel * rows.to(at::kFloat).unsqueeze(-1);
  return at::constant_pad_nd(kernel.transpose(1, 2), {0, padded_length(u) - u}).contiguous();
}

}  // namespace

at::Tensor sinkhorn(const at::Tensor& logits, const at::Tensor& columns, const SinkhornOptions& options,
                    const at::Tensor& rows) {
  const int64_t n = logits.size(2);
  if (logits.size(1) == 0) return at::zeros({logits.size(0), n}, at::kFloat);
  at::Tensor scales = at::empty({logits.size(0), n}, at::kFloat);
  const at::Tensor kernel = kernels_of(logits, rows);
  const at::Tensor mass = columns.to(at::kFloat).contiguous();
  const int64_t stride = kernel.size(2);
  std::vector<float> work(static_cast<size_t>(2 * stride));
  for (int64_t e = 0; e < logits.size(0); ++e) {
    transport_scales({kernel.data_ptr<float>() + e * n * stride, n, stride, mass.data_ptr<float>() + e * n,
                      static_cast<float>(options.tolerance), options.most_steps, work.data()},
                     scales.data_ptr<float>() + e * n);
  }
  return scales.log_();
}

at::Tensor transported(const EpisodePoints& points, const at::Tensor& logits) {
  const at::Tensor free = points.unlabelled_of(logits);
  return logits + sinkhorn(free, balanced_columns(free)).unsqueeze(1);
}

at::Tensor balanced_columns(const at::Tensor& logits) {
  return at::full({logits.size(0), logits.size(2)}, static_cast<double>(logits.size(1)) / logits.size(2), at::kFloat);
}

}  // namespace protocom
