#include "fewshot/toolbox/detail/balanced_logits.h"

#include <algorithm>
#include <cmath>

#include "fewshot/row_kernels.h"
#include "fewshot/toolbox/detail/class_kernels.h"
#include "fewshot/toolbox/detail/sinkhorn.h"

namespace protocom {

void BalancedLogits::place(const Task& task, RowSpan& span, const Floats& means) {
  stride_ = span.stride();
  logits_.resize(static_cast<size_t>(task.n * stride_));
  span.compute_distances(means.data(), task.n, logits_.data());
  for (float& logit : logits_) logit *= -factor_;
  scales_.assign(static_cast<size_t>(task.n), 1.0F);
  if (task.unlabelled == 0) return;
  compute_kernel(task);
  scales_ = sinkhorn_scales(kernel_, plan_stride_, balanced_columns(task.unlabelled, task.n));
}

void BalancedLogits::compute_kernel(const Task& task) {
  const int64_t n = task.n, u = task.unlabelled;
  plan_stride_ = padded_length(u);
  kernel_.resize(static_cast<size_t>(n * plan_stride_));
  for (int64_t k = 0; k < n; ++k)
    std::copy_n(logits_.data() + k * stride_ + task.supports(), u, kernel_.data() + k * plan_stride_);
  exponentials_of_classes(kernel_.data(), n, plan_stride_);
  for (int64_t k = 0; k < n; ++k)
    std::fill(kernel_.data() + k * plan_stride_ + u, kernel_.data() + (k + 1) * plan_stride_, 0.0F);
}

Floats& BalancedLogits::plan() {
  shares_of_classes(scales_.data(), kernel_.data(), static_cast<int64_t>(scales_.size()), plan_stride_);
  return kernel_;
}

void BalancedLogits::answer(const Task& task, float* logits) const {
  for (int64_t k = 0; k < task.n; ++k) {
    const float more = std::log(scales_[static_cast<size_t>(k)]);
    const float* own = logits_.data() + k * stride_ + task.first_query();
    for (int64_t i = 0; i < task.queries; ++i) logits[i * task.n + k] = own[i] + more;
  }
}

}  // namespace protocom
