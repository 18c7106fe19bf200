#include "fewshot/toolbox/detail/rectified_rows.h"

#include <algorithm>
#include <cmath>

#include "fewshot/row_kernels.h"
#include "fewshot/toolbox/detail/class_kernels.h"

namespace protocom {

void RectifiedMembers::place(const Task& task, const RectifyProducts& products) {
  compute_cosines(task, products);
  compute_weights(task, products.stride);
  const auto n = static_cast<size_t>(task.n);
  totals_.assign(n, 0.0F);
  moved_.assign(n, 0.0F);
  const bool by_weight = options_.variant == "sum";
  for (int64_t i = 0; i < task.learned(); ++i) {
    const auto k = static_cast<size_t>(class_of(i));
    totals_[k] += by_weight ? weight(i) : 1.0F;
    if (i >= task.supports()) moved_[k] += weight(i);
  }
  for (size_t k = 0; k < n; ++k) {
    if (totals_[k] > 0) moved_[k] /= totals_[k];
    if (options_.moved_back) moved_[k] -= 1;
  }
  for (size_t i = 0; i < weights_.size(); ++i) weights_[i] /= totals_[static_cast<size_t>(nearest_[i])];
}

/// Computes the cosines of all points with the class means, unlabelled points after the shift, from products of the
/// unshifted points; and the nearest class of each.
void RectifiedMembers::compute_cosines(const Task& task, const RectifyProducts& products) {
  const int64_t n = task.n, count = task.learned(), supports = task.supports();
  grow(factors_, count);
  grow(most_, count);
  grow(cosines_, n * products.stride);
  nearest_.assign(static_cast<size_t>(count), 0);
  float* factors = factors_.data();
  for (int64_t i = 0; i < count; ++i) {
    const float more = i < supports ? 0.0F : 2 * products.with_shift[i] + products.shift_square;
    factors[i] = inverse_root(task.squares[static_cast<size_t>(i)] + more);
  }
  float* most = most_.data();
  int32_t* nearest = nearest_.data();
  for (int64_t k = 0; k < n; ++k) {
    const float inverse = inverse_root(products.mean_squares[static_cast<size_t>(k)]);
    const float moved = products.mean_shifts[static_cast<size_t>(k)];
    const float* dots = products.with_means + k * products.stride;
    float* cosines = cosines_.data() + k * products.stride;
    for (int64_t i = 0; i < supports; ++i) cosines[i] = dots[i] * factors[i] * inverse;
    for (int64_t i = supports; i < count; ++i) cosines[i] = (dots[i] + moved) * factors[i] * inverse;
    for (int64_t i = 0; i < count; ++i) {
      const bool nearer = k == 0 || cosines[i] > most[i];
      most[i] = nearer ? cosines[i] : most[i];
      nearest[i] = nearer ? static_cast<int32_t>(k) : nearest[i];
    }
  }
}

void RectifiedMembers::compute_weights(const Task& task, int64_t stride) {
  const auto scale = static_cast<float>(options_.scale);
  weights_.resize(nearest_.size());
  if (options_.variant == "sum") {
    std::copy(task.label.begin(), task.label.end(), nearest_.begin());
    for (size_t i = 0; i < weights_.size(); ++i) {
      const float cosine = cosines_[static_cast<size_t>(nearest_[i] * stride) + i];
      weights_[i] = std::exp(scale * (cosine - 1));  // the factor e^-scale cancels
    }
    return;
  }
  shares_.resize(static_cast<size_t>(task.n * stride));
  for (size_t i = 0; i < shares_.size(); ++i) shares_[i] = scale * cosines_[i];
  exponentials_of_classes(shares_.data(), task.n, stride);
  shares_of_classes(nullptr, shares_.data(), task.n, stride);
  for (size_t i = 0; i < weights_.size(); ++i) weights_[i] = shares_[static_cast<size_t>(nearest_[i] * stride) + i];
}

const Floats& RectifiedRows::place(const Task& task) {
  compute_class_means(task, means_);
  if (task.unlabelled == 0) return means_;
  compute_products(task);
  members_.place(task, products_);
  compute_sums(task);
  for (int64_t k = 0; k < task.n; ++k) {
    float* own = prototypes_.data() + k * task.dim;
    if (!members_.has_any(k)) std::copy_n(means_.data() + k * task.dim, task.dim, own);
    add_scaled_row(members_.moved(k), shift_.data(), task.dim, own);
  }
  return prototypes_;
}

/// Computes products with the class means, then with the shift: the first pass reads rows from anywhere, and later ones
/// find them in the second-level cache.
void RectifiedRows::compute_products(const Task& task) {
  const int64_t n = task.n, count = task.learned(), dim = task.dim;
  const int64_t stride = padded_length(count);
  grow(dots_, count * n);
  row_dots({task.rows.data(), count, means_.data(), n, dim, n}, dots_.data());
  by_class_.resize(static_cast<size_t>(n * stride));
  for (int64_t k = 0; k < n; ++k) {
    float* own = by_class_.data() + k * stride;
    for (int64_t i = 0; i < count; ++i) own[i] = dots_[static_cast<size_t>(i * n + k)];
  }
  compute_mean(task, 0, task.supports(), shift_);
  compute_mean(task, task.supports(), count, other_mean_);
  add_scaled_row(-1, other_mean_.data(), dim, shift_.data());
  grow(shift_dots_, count);
  row_dots({task.rows.data(), count, shift_.data(), 1, dim, 1}, shift_dots_.data());
  products_.begin(stride, by_class_.data(), shift_dots_.data(), row_dot(shift_.data(), shift_.data(), dim));
  for (int64_t k = 0; k < n; ++k) {
    const float* mean = means_.data() + k * dim;
    products_.mean_squares.push_back(row_dot(mean, mean, dim));
    products_.mean_shifts.push_back(row_dot(mean, shift_.data(), dim));
  }
}

/// Computes the weighted sum of each class's members.
void RectifiedRows::compute_sums(const Task& task) {
  const auto n = static_cast<size_t>(task.n);
  const int64_t count = task.learned();
  first_.assign(n + 1, 0);
  for (int64_t i = 0; i < count; ++i) ++first_[static_cast<size_t>(members_.class_of(i)) + 1];
  for (size_t k = 0; k < n; ++k) first_[k + 1] += first_[k];
  rows_.resize(static_cast<size_t>(count));
  row_weights_.resize(static_cast<size_t>(count));
  std::vector<int64_t> next(first_.begin(), first_.end());
  for (int64_t i = 0; i < count; ++i) {
    const auto to = static_cast<size_t>(next[static_cast<size_t>(members_.class_of(i))]++);
    rows_[to] = task.rows[static_cast<size_t>(i)];
    row_weights_[to] = members_.weight(i);
  }
  grow(prototypes_, task.n * task.dim);
  for (size_t k = 0; k < n; ++k) {
    const int64_t from = first_[k], own = first_[k + 1] - from;
    sums_of_rows({rows_.data() + from, own, row_weights_.data() + from, 1, own, task.dim},
                 prototypes_.data() + static_cast<int64_t>(k) * task.dim);
  }
}

const Floats& RectifiedSpan::place(const Task& task, RowSpan& span, const Floats& means) {
  if (task.unlabelled == 0) return means;
  const int64_t n = task.n, stride = span.stride(), supports = task.supports();
  combinations_ = means;
  combinations_.resize(static_cast<size_t>((n + 1) * stride), 0.0F);
  float* shift = combinations_.data() + n * stride;
  std::fill_n(shift, stride, 0.0F);
  std::fill_n(shift, supports, 1.0F / static_cast<float>(supports));
  std::fill_n(shift + supports, task.unlabelled, -1.0F / static_cast<float>(task.unlabelled));
  grow(dots_, (n + 1) * stride);
  span.compute_products(combinations_.data(), n + 1, dots_.data());
  const float* of_shift = dots_.data() + n * stride;
  products_.begin(stride, dots_.data(), of_shift, row_dot(shift, of_shift, stride));
  for (int64_t k = 0; k < n; ++k) {
    products_.mean_squares.push_back(row_dot(means.data() + k * stride, dots_.data() + k * stride, stride));
    products_.mean_shifts.push_back(row_dot(means.data() + k * stride, of_shift, stride));
  }
  members_.place(task, products_);
  prototypes_.assign(static_cast<size_t>(n * stride), 0.0F);
  for (int64_t i = 0; i < task.learned(); ++i)
    prototypes_[static_cast<size_t>(members_.class_of(i) * stride + i)] = members_.weight(i);
  for (int64_t k = 0; k < n; ++k) {
    float* own = prototypes_.data() + k * stride;
    if (!members_.has_any(k)) std::copy_n(means.data() + k * stride, stride, own);
    add_scaled_row(members_.moved(k), shift, stride, own);
  }
  return prototypes_;
}

}  // namespace protocom
