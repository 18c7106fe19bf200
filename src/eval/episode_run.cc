#include "episode_run.h"

#include <algorithm>
#include <tuple>

#include "protocom/fewshot/row_kernels.h"

namespace protocom {
namespace {

template <typename T>
void grow(std::vector<T>& values, int64_t size) {
  if (static_cast<int64_t>(values.size()) < size) values.resize(static_cast<size_t>(size));
}

/// One over the norm of (m + c) / 2, from the products of m and c.
float half_sum_inverse(float square_m, float product, float square_c) {
  return inverse_norm_of(std::max(0.25F * (square_m + 2 * product + square_c), 0.0F));
}

}  // namespace

EpisodeRun::EpisodeRun(const FeatureRows& rows, const EvaluateOptions& options, WithProbabilities probabilities)
    : rows_(rows),
      options_(options),
      probabilities_(probabilities),
      dim_(rows.dim()),
      answers_(options.methods.size()) {
  for (const Method method : options.methods) {
    completes_ |= method != Method::kMean;
    fuses_ |= method == Method::kGaussFusion;
  }
}

void EpisodeRun::run(const EpisodeTask& task) {
  reserve(task);
  set_prototypes(task);
  dot_queries(task);
  if (fuses_) fuse(task);
  for (size_t i = 0; i < options_.methods.size(); ++i) answer(task, options_.methods[i], answers_[i]);
}

void EpisodeRun::reserve(const EpisodeTask& task) {
  n_ = static_cast<int64_t>(task.episode->classes.size());
  columns_ = completes_ ? 2 * n_ : n_;
  const auto queries = static_cast<int64_t>(task.query.size());
  const auto pool = static_cast<int64_t>(task.unlabelled.size());
  for (auto* values : {&prototypes_, &sums_, &square_sums_}) grow(*values, columns_ * dim_);
  for (auto* values : {&squares_, &inverse_norms_, &totals_}) grow(*values, columns_);
  for (auto* values : {&products_, &fused_inverse_, &factors_}) grow(*values, n_);
  for (auto* values : {&fused_dots_, &cosines_}) grow(*values, queries * n_);
  grow(fused_, n_ * dim_);
  grow(query_dots_, queries * columns_);
  grow(pool_dots_, pool * columns_);
  grow(weights_, std::max(queries, pool) * columns_);
  grow(row_of_, std::max(queries, pool));
  for (EpisodeAnswers& answers : answers_) {
    grow(answers.winner, queries);
    grow(answers.probability, queries);
    grow(answers.margin, queries);
  }
}

/// Also starts the sums of the moments with the supports, which have the weight 1 (equations 13 and 14).
void EpisodeRun::set_prototypes(const EpisodeTask& task) {
  for (int64_t i = 0; i < n_; ++i) {
    const auto& support = task.episode->support[static_cast<size_t>(i)];
    float* sum = sums_.data() + i * dim_;
    float* squares = square_sums_.data() + i * dim_;
    std::fill_n(sum, dim_, 0.0F);
    std::fill_n(squares, dim_, 0.0F);
    static constexpr float kOne = 1;
    for (const int64_t index : support) {
      const float* row = rows_.row(index);
      add_weighted_sums({&row, 1, &kOne, 1, dim_}, sum, squares);
    }
    totals_[static_cast<size_t>(i)] = static_cast<float>(support.size());
    float* mean = prototypes_.data() + i * dim_;
    const float shots = totals_[static_cast<size_t>(i)];
    for (int64_t d = 0; d < dim_; ++d) mean[d] = sum[d] / shots;
    if (!completes_) continue;
    std::copy_n(task.completed[static_cast<size_t>(i)], dim_, prototypes_.data() + (n_ + i) * dim_);
    products_[static_cast<size_t>(i)] = row_dot(mean, prototype(n_ + i), dim_);
  }
  for (int64_t i = 0; i < columns_; ++i) {
    squares_[static_cast<size_t>(i)] = row_dot(prototype(i), prototype(i), dim_);
    inverse_norms_[static_cast<size_t>(i)] = inverse_norm_of(squares_[static_cast<size_t>(i)]);
  }
  if (!fuses_) return;
  std::copy_n(sums_.data(), n_ * dim_, sums_.data() + n_ * dim_);
  std::copy_n(square_sums_.data(), n_ * dim_, square_sums_.data() + n_ * dim_);
  std::copy_n(totals_.data(), n_, totals_.data() + n_);
}

void EpisodeRun::dot_queries(const EpisodeTask& task) {
  const auto count = static_cast<int64_t>(task.query.size());
  for (int64_t i = 0; i < count; ++i) row_of_[static_cast<size_t>(i)] = rows_.row(task.query[static_cast<size_t>(i)]);
  row_dots({row_of_.data(), count, prototypes_.data(), columns_, dim_, columns_}, query_dots_.data());
}

/// Equation 12: the classes' probabilities by the means, then by the completed prototypes, of every unlabelled row.
void EpisodeRun::weigh(const std::vector<int64_t>& rows, const float* dots) {
  const auto scale = static_cast<float>(options_.fusion.scale);
  const auto count = static_cast<int64_t>(rows.size());
  for (int64_t i = 0; i < count; ++i) {
    const float factor = scale * rows_.inverse_norm(rows[static_cast<size_t>(i)]);
    for (int64_t j = 0; j < columns_; ++j) {
      weights_[static_cast<size_t>(i * columns_ + j)] =
          dots[i * columns_ + j] * factor * inverse_norms_[static_cast<size_t>(j)];
    }
  }
  softmax_rows(weights_.data(), 2 * count, n_);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < columns_; ++j)
      totals_[static_cast<size_t>(j)] += weights_[static_cast<size_t>(i * columns_ + j)];
  }
}

void EpisodeRun::fuse(const EpisodeTask& task) {
  const bool pooled = !task.unlabelled.empty();
  const auto& unlabelled = pooled ? task.unlabelled : task.query;
  const auto count = static_cast<int64_t>(unlabelled.size());
  if (pooled) {
    for (int64_t i = 0; i < count; ++i) row_of_[static_cast<size_t>(i)] = rows_.row(unlabelled[static_cast<size_t>(i)]);
    row_dots({row_of_.data(), count, prototypes_.data(), columns_, dim_, columns_}, pool_dots_.data());
  }
  weigh(unlabelled, pooled ? pool_dots_.data() : query_dots_.data());
  add_weighted_sums({row_of_.data(), count, weights_.data(), columns_, dim_}, sums_.data(), square_sums_.data());
  const auto epsilon = static_cast<float>(options_.fusion.epsilon);
  for (int64_t i = 0; i < n_; ++i) {
    const auto gaussian = [&](int64_t column) {
      return std::tuple(sums_.data() + column * dim_, square_sums_.data() + column * dim_,
                        totals_[static_cast<size_t>(column)]);
    };
    const auto [sum_a, squares_a, total_a] = gaussian(i);
    const auto [sum_b, squares_b, total_b] = gaussian(n_ + i);
    float* fused = fused_.data() + i * dim_;
    fuse_row({sum_a, squares_a, total_a, sum_b, squares_b, total_b, epsilon, dim_}, fused);
    fused_inverse_[static_cast<size_t>(i)] = inverse_norm_of(row_dot(fused, fused, dim_));
  }
  const auto queries = static_cast<int64_t>(task.query.size());
  for (int64_t i = 0; i < queries; ++i) row_of_[static_cast<size_t>(i)] = rows_.row(task.query[static_cast<size_t>(i)]);
  row_dots({row_of_.data(), queries, fused_.data(), n_, dim_, n_}, fused_dots_.data());
}

void EpisodeRun::set_factors(Method method) {
  for (int64_t j = 0; j < n_; ++j) {
    const auto mean = static_cast<size_t>(j);
    const auto completed = static_cast<size_t>(n_ + j);
    float& factor = factors_[mean];
    if (method == Method::kMean) factor = inverse_norms_[mean];
    if (method == Method::kCompleted) factor = inverse_norms_[completed];
    if (method == Method::kMeanFusion)
      factor = 0.5F * half_sum_inverse(squares_[mean], products_[mean], squares_[completed]);
    if (method == Method::kGaussFusion) factor = fused_inverse_[mean];
  }
}

void EpisodeRun::cosines_of(const EpisodeTask& task, Method method) {
  const auto queries = static_cast<int64_t>(task.query.size());
  const bool fused = method == Method::kGaussFusion;
  const int64_t stride = fused ? n_ : columns_;
  const float* dots = fused ? fused_dots_.data() : query_dots_.data() + (method == Method::kCompleted ? n_ : 0);
  const float* factors = factors_.data();
  float* cosines = cosines_.data();
  if (method == Method::kMeanFusion) {
    for (int64_t i = 0; i < queries; ++i, dots += stride, cosines += n_) {
      for (int64_t j = 0; j < n_; ++j) cosines[j] = (dots[j] + dots[n_ + j]) * factors[j];
    }
    return;
  }
  for (int64_t i = 0; i < queries; ++i, dots += stride, cosines += n_) {
    for (int64_t j = 0; j < n_; ++j) cosines[j] = dots[j] * factors[j];
  }
}

double EpisodeRun::centre_cosine_of(const EpisodeTask& task, Method method) const {
  double sum = 0;
  for (int64_t j = 0; j < n_; ++j) {
    const int64_t label = task.episode->classes[static_cast<size_t>(j)];
    const auto to_centre = [&](const float* vector) { return row_dot(vector, rows_.centre(label), dim_); };
    float dot = 0;
    if (method == Method::kMean || method == Method::kMeanFusion) dot += to_centre(prototype(j));
    if (method == Method::kCompleted || method == Method::kMeanFusion) dot += to_centre(prototype(n_ + j));
    if (method == Method::kGaussFusion) dot = to_centre(fused_.data() + j * dim_);
    sum += static_cast<double>(dot * factors_[static_cast<size_t>(j)] * rows_.inverse_centre_norm(label));
  }
  return sum / static_cast<double>(n_);
}

void EpisodeRun::answer(const EpisodeTask& task, Method method, EpisodeAnswers& answers) {
  set_factors(method);
  cosines_of(task, method);
  answers.centre_cosine = centre_cosine_of(task, method);
  const auto queries = static_cast<int64_t>(task.query.size());
  if (probabilities_ == WithProbabilities::kYes) {
    const auto scale = static_cast<float>(options_.fusion.scale);
    for (int64_t i = 0; i < queries; ++i) {
      const float factor = scale * rows_.inverse_norm(task.query[static_cast<size_t>(i)]);
      for (int64_t j = 0; j < n_; ++j) cosines_[static_cast<size_t>(i * n_ + j)] *= factor;
    }
  }
  pick(queries, answers);
}

void EpisodeRun::pick(int64_t queries, EpisodeAnswers& answers) {
  for (int64_t i = 0; i < queries; ++i) {
    const float* row = cosines_.data() + i * n_;
    answers.winner[static_cast<size_t>(i)] = std::max_element(row, row + n_) - row;
  }
  if (probabilities_ == WithProbabilities::kNo) return;
  softmax_rows(cosines_.data(), queries, n_);
  for (int64_t i = 0; i < queries; ++i) {
    const float* row = cosines_.data() + i * n_;
    const int64_t winner = answers.winner[static_cast<size_t>(i)];
    float second = 0;
    for (int64_t j = 0; j < n_; ++j) second = j == winner ? second : std::max(second, row[j]);
    answers.probability[static_cast<size_t>(i)] = row[winner];
    answers.margin[static_cast<size_t>(i)] = row[winner] - second;
  }
}

}  // namespace protocom
