#include "fewshot/paper/detail/paper_rows_run.h"

#include <algorithm>
#include <cmath>

#include "fewshot/row_kernels.h"

namespace protocom {
namespace {

template <typename Values>
void grow(Values& values, int64_t size) {
  if (static_cast<int64_t>(values.size()) < size) values.resize(static_cast<size_t>(size));
}

size_t index(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

float inverse_norm_of(float square) {
  constexpr float kTiny = 1e-12F;
  return 1.0F / std::max(std::sqrt(square), kTiny);
}

PaperRowsRun::PaperRowsRun(std::vector<FastRow> rows) : rows_(std::move(rows)), answers_(rows_.size()) {
  for (const FastRow& row : rows_) {
    completes_ |= row.row > 1;
    fuses_ |= row.row == 4;
  }
}

void PaperRowsRun::run(const Task& task, const std::vector<const float*>& completed,
                       const std::vector<float*>& logits) {
  reserve(task);
  compute_means(task);
  if (completes_) compute_completed(completed);
  for (size_t i = 0; i < task.squares.size(); ++i) point_inverse_[i] = inverse_norm_of(task.squares[i]);
  const auto dot = [&](int64_t first, int64_t count, std::vector<float>& dots) {
    row_dots({task.rows.data() + first, count, prototypes_.data(), columns_, dim_, columns_}, dots.data());
  };
  dot(task.first_query(), task.queries, query_dots_);
  if (fuses_ && task.is_pooled()) dot(task.supports(), task.unlabelled, pool_dots_);
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].row == 4) {
      answer_fused(task, rows_[i], logits[i], answers_[i].data());
    } else {
      answer_plain(task, rows_[i], logits[i], answers_[i].data());
    }
  }
}

void PaperRowsRun::reserve(const Task& task) {
  n_ = task.n;
  dim_ = task.dim;
  columns_ = completes_ ? 2 * n_ : n_;
  for (Floats* values : {&prototypes_, &sums_, &squares_, &moved_}) grow(*values, columns_ * dim_);
  for (Floats* values : {&support_sums_, &support_squares_}) grow(*values, n_ * dim_);
  for (Floats& values : answers_) grow(values, n_ * dim_);
  for (auto* values : {&inverse_norms_, &moved_norms_, &totals_}) grow(*values, columns_);
  for (auto* values : {&half_sum_inverse_, &shots_}) grow(*values, n_);
  grow(point_inverse_, task.points());
  grow(query_dots_, task.queries * columns_);
  for (auto* values : {&pool_dots_, &weights_}) grow(*values, task.unlabelled * columns_);
  grow(fused_dots_, task.queries * n_);
}

/// Also keeps the supports' sums, which are part of the sums of equations 13 and 14: a support has weight 1.
void PaperRowsRun::compute_means(const Task& task) {
  const float* const* support = task.rows.data();
  for (int64_t i = 0, next = 0; i < n_; ++i) {
    const int64_t first = next;
    while (next < task.supports() && task.label[index(next)] == i) ++next;
    ones_.assign(index(next - first), 1.0F);
    float* sum = support_sums_.data() + i * dim_;
    weighted_moments({support + first, next - first, ones_.data(), 1, dim_}, sum, support_squares_.data() + i * dim_);
    shots_[index(i)] = static_cast<float>(next - first);
    float* mean = prototype(i);
    for (int64_t d = 0; d < dim_; ++d) mean[d] = sum[d] / shots_[index(i)];
    inverse_norms_[index(i)] = inverse_norm_of(row_dot(mean, mean, dim_));
  }
}

void PaperRowsRun::compute_completed(const std::vector<const float*>& completed) {
  for (int64_t i = 0; i < n_; ++i) {
    const float* mean = prototype(i);
    float* own = prototype(n_ + i);
    std::copy_n(completed[index(i)], dim_, own);
    const float square_m = row_dot(mean, mean, dim_);
    const float square_c = row_dot(own, own, dim_);
    inverse_norms_[index(n_ + i)] = inverse_norm_of(square_c);
    const float square_half_sum = 0.25F * (square_m + 2 * row_dot(mean, own, dim_) + square_c);
    half_sum_inverse_[index(i)] = inverse_norm_of(std::max(square_half_sum, 0.0F));
  }
}

/// Equation 12: computes the classes' probabilities by the means, then by the completed prototypes, for every
/// unlabelled row, from its products with them and their inverse norms.
void PaperRowsRun::weigh(const Task& task, const std::vector<float>& dots, const std::vector<float>& column_norms,
                         double scale) {
  const int64_t count = task.unlabelled;
  const float* inverse = point_inverse_.data() + task.supports();
  for (int64_t i = 0; i < count; ++i) {
    const float factor = static_cast<float>(scale) * inverse[i];
    for (int64_t j = 0; j < columns_; ++j)
      weights_[index(i * columns_ + j)] = dots[index(i * columns_ + j)] * factor * column_norms[index(j)];
  }
  softmax_rows(weights_.data(), 2 * count, n_);  // [count, 2, n]
  for (int64_t j = 0; j < columns_; ++j) totals_[index(j)] = shots_[index(j % n_)];
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < columns_; ++j) totals_[index(j)] += weights_[index(i * columns_ + j)];
  }
  weighted_moments({task.rows.data() + task.supports(), count, weights_.data(), columns_, dim_}, sums_.data(),
                   squares_.data());
}

/// Replaces the prototypes by the Gaussians' means, and computes the unlabelled rows' products with them.
void PaperRowsRun::move_columns(const Task& task) {
  for (int64_t j = 0; j < columns_; ++j) {
    float* to = moved_.data() + j * dim_;
    const float* support = support_sums_.data() + (j % n_) * dim_;
    const float* sum = sums_.data() + j * dim_;
    for (int64_t d = 0; d < dim_; ++d) to[d] = (support[d] + sum[d]) / totals_[index(j)];
    moved_norms_[index(j)] = inverse_norm_of(row_dot(to, to, dim_));
  }
  row_dots({task.rows.data() + task.supports(), task.unlabelled, moved_.data(), columns_, dim_, columns_},
           pool_dots_.data());
}

void PaperRowsRun::fuse(const Task& task, const FastRow& row, float* fused) {
  weigh(task, task.is_pooled() ? pool_dots_ : query_dots_, inverse_norms_, row.fusion.scale);
  for (int64_t step = 1; step < row.fusion.steps; ++step) {
    move_columns(task);
    weigh(task, pool_dots_, moved_norms_, row.fusion.scale);
  }
  for (int64_t i = 0; i < n_; ++i) {
    const int64_t c = n_ + i;
    fuse_row({support_sums_.data() + i * dim_, support_squares_.data() + i * dim_, sums_.data() + i * dim_,
              squares_.data() + i * dim_, totals_[index(i)], sums_.data() + c * dim_, squares_.data() + c * dim_,
              totals_[index(c)], static_cast<float>(row.fusion.epsilon), dim_},
             fused + i * dim_);
  }
}

/// Computes rows (i) to (iii).
void PaperRowsRun::answer_plain(const Task& task, const FastRow& row, float* logits, float* prototypes) {
  const bool half = row.row == 3;
  const int64_t first = row.row == 2 ? n_ : 0;
  const float* inverse = point_inverse_.data() + task.first_query();
  for (int64_t i = 0; i < task.queries; ++i) {
    const float* dots = query_dots_.data() + i * columns_ + first;
    const float factor = row.gamma * inverse[i];
    for (int64_t j = 0; j < n_; ++j) {
      logits[i * n_ + j] = half ? factor * 0.5F * (dots[j] + dots[n_ + j]) * half_sum_inverse_[index(j)]
                                : factor * dots[j] * inverse_norms_[index(first + j)];
    }
  }
  const float* own = prototype(first);
  const float* other = prototype(n_);
  for (int64_t d = 0; d < n_ * dim_; ++d) prototypes[d] = half ? 0.5F * own[d] + 0.5F * other[d] : own[d];
}

/// Computes row (iv); without queries and pool it equals row (iii), as in gauss_fusion().
void PaperRowsRun::answer_fused(const Task& task, const FastRow& row, float* logits, float* prototypes) {
  if (task.unlabelled == 0) return answer_plain(task, {3, row.gamma, {}}, logits, prototypes);
  fuse(task, row, prototypes);
  row_dots({task.rows.data() + task.first_query(), task.queries, prototypes, n_, dim_, n_}, fused_dots_.data());
  const float* inverse = point_inverse_.data() + task.first_query();
  for (int64_t j = 0; j < n_; ++j) {
    const float* fused = prototypes + j * dim_;
    const float factor = row.gamma * inverse_norm_of(row_dot(fused, fused, dim_));
    for (int64_t i = 0; i < task.queries; ++i)
      logits[i * n_ + j] = fused_dots_[index(i * n_ + j)] * factor * inverse[i];
  }
}

}  // namespace protocom
