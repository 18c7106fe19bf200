#include "fewshot/paper/detail/paper_rows_run.h"

#include <algorithm>
#include <cmath>

#include "fewshot/toolbox/detail/row_kernels.h"

namespace protocom {
namespace {

void grow(std::vector<float>& values, int64_t size) {
  if (static_cast<int64_t>(values.size()) < size) values.resize(static_cast<size_t>(size));
}

size_t index(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

float inverse_norm_of(float square) {
  constexpr float kTiny = 1e-12F;
  return 1.0F / std::max(std::sqrt(square), kTiny);
}

PaperRowsRun::PaperRowsRun(std::vector<FastRow> rows, int64_t dim, int64_t width)
    : rows_(std::move(rows)), dim_(dim), width_(width) {
  for (const FastRow& row : rows_) {
    completes_ |= row.row > 1;
    fuses_ |= row.row == 4;
  }
}

void PaperRowsRun::run(const FastEpisode& episode, const std::vector<FastAnswer>& answers) {
  reserve(episode);
  place_means(episode);
  if (completes_) place_completed(episode);
  dot(episode.query, query_dots_);
  if (fuses_ && !episode.unlabelled.empty()) dot(episode.unlabelled, pool_dots_);
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].row == 4) {
      answer_fused(rows_[i], episode, answers[i]);
    } else {
      answer_plain(rows_[i], episode, answers[i]);
    }
  }
}

void PaperRowsRun::reserve(const FastEpisode& episode) {
  n_ = static_cast<int64_t>(episode.support.size());
  columns_ = completes_ ? 2 * n_ : n_;
  const auto queries = static_cast<int64_t>(episode.query.size());
  const auto pool = static_cast<int64_t>(episode.unlabelled.size());
  for (auto* values : {&prototypes_, &sums_, &squares_}) grow(*values, columns_ * dim_);
  for (auto* values : {&support_sums_, &support_squares_, &fused_}) grow(*values, n_ * dim_);
  for (auto* values : {&inverse_norms_, &totals_}) grow(*values, columns_);
  for (auto* values : {&half_sum_inverse_, &shots_}) grow(*values, n_);
  grow(query_dots_, queries * columns_);
  grow(pool_dots_, pool * columns_);
  grow(weights_, std::max(queries, pool) * columns_);
  grow(fused_dots_, queries * n_);
}

/// Also keeps the supports' sums, which are part of those of equations 13 and 14: a support has the weight 1.
void PaperRowsRun::place_means(const FastEpisode& episode) {
  for (int64_t i = 0; i < n_; ++i) {
    const std::vector<const float*>& support = episode.support[index(i)];
    ones_.assign(support.size(), 1.0F);
    float* sum = support_sums_.data() + i * dim_;
    weighted_moments({support.data(), static_cast<int64_t>(support.size()), ones_.data(), 1, dim_}, sum,
                     support_squares_.data() + i * dim_);
    shots_[index(i)] = static_cast<float>(support.size());
    float* mean = prototype(i);
    for (int64_t d = 0; d < dim_; ++d) mean[d] = sum[d] / shots_[index(i)];
    inverse_norms_[index(i)] = inverse_norm_of(row_dot(mean, mean, dim_));
  }
}

void PaperRowsRun::place_completed(const FastEpisode& episode) {
  for (int64_t i = 0; i < n_; ++i) {
    const float* mean = prototype(i);
    float* completed = prototype(n_ + i);
    std::copy_n(episode.completed[index(i)], dim_, completed);
    const float square_m = row_dot(mean, mean, dim_);
    const float square_c = row_dot(completed, completed, dim_);
    inverse_norms_[index(n_ + i)] = inverse_norm_of(square_c);
    const float square_half_sum = 0.25F * (square_m + 2 * row_dot(mean, completed, dim_) + square_c);
    half_sum_inverse_[index(i)] = inverse_norm_of(std::max(square_half_sum, 0.0F));
  }
}

void PaperRowsRun::dot(const std::vector<const float*>& rows, std::vector<float>& dots) {
  row_dots({rows.data(), static_cast<int64_t>(rows.size()), prototypes_.data(), columns_, dim_, columns_}, dots.data());
}

/// Equation 12: the classes' probabilities by the means, then by the completed prototypes, of every unlabelled row.
void PaperRowsRun::weigh(const std::vector<float>& dots, const std::vector<float>& inverse_norms, int64_t count,
                         double scale) {
  for (int64_t i = 0; i < count; ++i) {
    const float factor = static_cast<float>(scale) * inverse_norms[index(i)];
    for (int64_t j = 0; j < columns_; ++j)
      weights_[index(i * columns_ + j)] = dots[index(i * columns_ + j)] * factor * inverse_norms_[index(j)];
  }
  softmax_rows(weights_.data(), 2 * count, n_);  // [count, 2, n]
  for (int64_t j = 0; j < columns_; ++j) totals_[index(j)] = shots_[index(j % n_)];
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < columns_; ++j) totals_[index(j)] += weights_[index(i * columns_ + j)];
  }
}

void PaperRowsRun::fuse(const FastEpisode& episode, const FastRow& row) {
  const bool pooled = !episode.unlabelled.empty();
  const auto& unlabelled = pooled ? episode.unlabelled : episode.query;
  const auto count = static_cast<int64_t>(unlabelled.size());
  weigh(pooled ? pool_dots_ : query_dots_, pooled ? episode.unlabelled_inverse : episode.query_inverse, count,
        row.fusion.scale);
  weighted_moments({unlabelled.data(), count, weights_.data(), columns_, dim_}, sums_.data(), squares_.data());
  for (int64_t i = 0; i < n_; ++i) {
    const int64_t c = n_ + i;
    fuse_row({support_sums_.data() + i * dim_, support_squares_.data() + i * dim_, sums_.data() + i * dim_,
              squares_.data() + i * dim_, totals_[index(i)], sums_.data() + c * dim_, squares_.data() + c * dim_,
              totals_[index(c)], static_cast<float>(row.fusion.epsilon), dim_},
             fused_.data() + i * dim_);
  }
}

/// Rows (i) to (iii).
void PaperRowsRun::answer_plain(const FastRow& row, const FastEpisode& episode, const FastAnswer& answer) {
  const bool half = row.row == 3;
  const int64_t first = row.row == 2 ? n_ : 0;
  for (size_t i = 0; i < episode.query.size(); ++i) {
    const float* dots = query_dots_.data() + static_cast<int64_t>(i) * columns_ + first;
    const float factor = row.gamma * episode.query_inverse[i];
    float* logits = answer.logits + static_cast<int64_t>(i) * n_;
    for (int64_t j = 0; j < n_; ++j) {
      logits[j] = half ? factor * 0.5F * (dots[j] + dots[n_ + j]) * half_sum_inverse_[index(j)]
                       : factor * dots[j] * inverse_norms_[index(first + j)];
    }
  }
  for (int64_t j = 0; j < n_; ++j) {
    const float* own = prototype(first + j);
    float* to = answer.prototypes + j * width_;
    if (!half) {
      std::copy_n(own, width_, to);
      continue;
    }
    const float* other = prototype(n_ + j);
    for (int64_t d = 0; d < width_; ++d) to[d] = 0.5F * own[d] + 0.5F * other[d];
  }
}

/// Row (iv); without queries and pool it is row (iii), as in gauss_fusion().
void PaperRowsRun::answer_fused(const FastRow& row, const FastEpisode& episode, const FastAnswer& answer) {
  const auto queries = static_cast<int64_t>(episode.query.size());
  if (episode.query.empty() && episode.unlabelled.empty()) return answer_plain({3, row.gamma, {}}, episode, answer);
  fuse(episode, row);
  row_dots({episode.query.data(), queries, fused_.data(), n_, dim_, n_}, fused_dots_.data());
  for (int64_t j = 0; j < n_; ++j) {
    const float* fused = fused_.data() + j * dim_;
    const float factor = row.gamma * inverse_norm_of(row_dot(fused, fused, dim_));
    for (int64_t i = 0; i < queries; ++i)
      answer.logits[i * n_ + j] = fused_dots_[index(i * n_ + j)] * factor * episode.query_inverse[index(i)];
    std::copy_n(fused, width_, answer.prototypes + j * width_);
  }
}

}  // namespace protocom
