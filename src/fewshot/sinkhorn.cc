#include "fewshot/sinkhorn.h"

#include <ATen/ATen.h>

#include <cmath>
#include <vector>

namespace protocom {
namespace {

/// One episode. Written out, because each episode stops by itself and a step is a few hundred multiplications.
class Plan {
 public:
  Plan(const float* kernel, const float* columns, int64_t n) : kernel_(kernel), columns_(columns), n_(n) {}

  /// Scales of the columns.
  const std::vector<float>& solve(const std::vector<int64_t>& rows, const SinkhornOptions& options) {
    scale_.assign(static_cast<size_t>(n_), 1);
    row_scale_.assign(rows.size(), 1);
    std::vector<float> before(rows.size(), 0);
    for (int64_t step = 0; step < options.most_steps; ++step) {
      if (sums_change(rows, before) <= options.tolerance) break;
      scale_columns(rows);
    }
    return scale_;
  }

 private:
  /// Row sums of the plan into `sums`; the largest change. Then scales the rows to 1.
  double sums_change(const std::vector<int64_t>& rows, std::vector<float>& sums) {
    float change = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      const float* row = kernel_ + rows[i] * n_;
      float sum = 0;
      for (int64_t k = 0; k < n_; ++k) sum += row[k] * scale_[static_cast<size_t>(k)];
      const float now = row_scale_[i] * sum;
      change = std::max(change, std::abs(now - sums[i]));
      sums[i] = now;
      row_scale_[i] = 1 / std::max(sum, kTiny);
    }
    return change;
  }

  void scale_columns(const std::vector<int64_t>& rows) {
    std::vector<float>& totals = totals_;
    totals.assign(static_cast<size_t>(n_), 0);
    for (size_t i = 0; i < rows.size(); ++i) {
      const float* row = kernel_ + rows[i] * n_;
      for (int64_t k = 0; k < n_; ++k) totals[static_cast<size_t>(k)] += row[k] * row_scale_[i];
    }
    for (size_t k = 0; k < totals.size(); ++k) scale_[k] = columns_[k] / std::max(totals[k], kTiny);
  }

  static constexpr float kTiny = 1e-30F;
  const float* kernel_;
  const float* columns_;
  int64_t n_;
  std::vector<float> scale_, row_scale_, totals_;
};

std::vector<int64_t> rows_that_count(const at::Tensor& rows, int64_t episode, int64_t count) {
  std::vector<int64_t> chosen;
  const bool* flags = rows.defined() ? rows.data_ptr<bool>() + episode * count : nullptr;
  for (int64_t i = 0; i < count; ++i) {
    if (flags == nullptr || flags[i]) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace

at::Tensor sinkhorn(const at::Tensor& logits, const at::Tensor& columns, const SinkhornOptions& options,
                    const at::Tensor& rows) {
  const int64_t u = logits.size(1);
  const int64_t n = logits.size(2);
  at::Tensor scales = at::zeros({logits.size(0), n}, at::kFloat);
  if (u == 0) return scales;
  // A factor of a row changes nothing: the largest entry of each becomes 1.
  const at::Tensor kernel = (logits - logits.amax(-1, true)).exp().to(at::kFloat).contiguous();
  const at::Tensor mass = columns.to(at::kFloat).contiguous();
  const at::Tensor flags = rows.defined() ? rows.to(at::kBool).contiguous() : at::Tensor();
  for (int64_t e = 0; e < logits.size(0); ++e) {
    Plan plan(kernel.data_ptr<float>() + e * u * n, mass.data_ptr<float>() + e * n, n);
    const auto& scale = plan.solve(rows_that_count(flags, e, u), options);
    for (int64_t k = 0; k < n; ++k) scales.data_ptr<float>()[e * n + k] = std::log(scale[static_cast<size_t>(k)]);
  }
  return scales;
}

at::Tensor balanced_columns(const at::Tensor& logits) {
  return at::full({logits.size(0), logits.size(2)}, static_cast<double>(logits.size(1)) / logits.size(2), at::kFloat);
}

}  // namespace protocom
