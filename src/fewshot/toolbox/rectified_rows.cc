#include "fewshot/toolbox/rectified_rows.h"

#include <algorithm>
#include <cmath>

#include "fewshot/toolbox/class_kernels.h"
#include "fewshot/toolbox/row_kernels.h"

namespace protocom {

const std::vector<float>& RectifiedRows::place(const RowEpisode& episode) {
  place_class_means(episode, means_);
  if (episode.unlabelled == 0) return means_;
  stride_ = padded_length(episode.learned());
  place_dots(episode);
  place_cosines(episode);
  place_weights(episode);
  place_sums(episode);
  for (int64_t k = 0; k < episode.n; ++k) {
    float* own = prototypes_.data() + k * episode.dim;
    const auto at = static_cast<size_t>(k);
    const float weight = options_.variant == "sum" ? total_[at] : count_[at];
    if (weight > 0) {
      for (int64_t d = 0; d < episode.dim; ++d)
        own[d] = (own[d] + moved_[at] * shift_[static_cast<size_t>(d)]) / weight;
    } else {
      std::copy_n(means_.data() + k * episode.dim, episode.dim, own);
    }
    if (options_.moved_back) add_scaled_row(-1, shift_.data(), episode.dim, own);
  }
  return prototypes_;
}

/// Products of the points with the class means, then with the shift: the first reads the rows from wherever they lie,
/// and what comes after finds them in the second cache.
void RectifiedRows::place_dots(const RowEpisode& episode) {
  const int64_t n = episode.n, count = episode.learned();
  grow(dots_, count * n);
  grow(shift_dots_, count);
  row_dots({episode.rows.data(), count, means_.data(), n, episode.dim, n}, dots_.data());
  place_mean(episode, 0, episode.supports(), shift_);
  place_mean(episode, episode.supports(), episode.learned(), other_mean_);
  add_scaled_row(-1, other_mean_.data(), episode.dim, shift_.data());
  row_dots({episode.rows.data(), count, shift_.data(), 1, episode.dim, 1}, shift_dots_.data());
}

/// Of all points with the class means, unlabelled ones after the shift, by products of the points as they are.
void RectifiedRows::place_cosines(const RowEpisode& episode) {
  const int64_t n = episode.n;
  grow(cosines_, n * stride_);
  nearest_.resize(static_cast<size_t>(episode.learned()));
  const float square_of_shift = row_dot(shift_.data(), shift_.data(), episode.dim);
  std::vector<float> inverse(static_cast<size_t>(n));
  std::vector<float> of_shift(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    const float* mean = means_.data() + k * episode.dim;
    inverse[static_cast<size_t>(k)] = inverse_root(row_dot(mean, mean, episode.dim));
    of_shift[static_cast<size_t>(k)] = row_dot(mean, shift_.data(), episode.dim);
  }
  for (int64_t i = 0; i < episode.learned(); ++i) {
    const float moved = i < episode.supports() ? 0.0F : 1.0F;
    const float more = moved * (2 * shift_dots_[static_cast<size_t>(i)] + square_of_shift);
    const float factor = inverse_root(episode.squares[static_cast<size_t>(i)] + more);
    int64_t nearest = 0;
    float most = 0;
    for (int64_t k = 0; k < n; ++k) {
      const auto at = static_cast<size_t>(k);
      const float dot = dots_[static_cast<size_t>(i * n + k)] + moved * of_shift[at];
      const float cosine = dot * factor * inverse[at];
      cosines_[static_cast<size_t>(k * stride_ + i)] = cosine;
      if (k > 0 && cosine <= most) continue;
      most = cosine;
      nearest = k;
    }
    nearest_[static_cast<size_t>(i)] = nearest;
  }
}

/// The class and the weight of each point.
void RectifiedRows::place_weights(const RowEpisode& episode) {
  const auto scale = static_cast<float>(options_.scale);
  weights_.resize(nearest_.size());
  if (options_.variant == "sum") {
    std::copy(episode.label.begin(), episode.label.end(), nearest_.begin());
    for (size_t i = 0; i < weights_.size(); ++i) {
      const float cosine = cosines_[static_cast<size_t>(nearest_[i] * stride_) + i];
      weights_[i] = std::exp(scale * (cosine - 1));  // less 1: a factor that falls out
    }
    return;
  }
  shares_.resize(static_cast<size_t>(episode.n * stride_));
  for (size_t i = 0; i < shares_.size(); ++i) shares_[i] = scale * cosines_[i];
  exponentials_of_classes(shares_.data(), episode.n, stride_);
  shares_of_classes(nullptr, shares_.data(), episode.n, stride_);
  for (size_t i = 0; i < weights_.size(); ++i) weights_[i] = shares_[static_cast<size_t>(nearest_[i] * stride_) + i];
}

/// Sums of each class's points by their weights.
void RectifiedRows::place_sums(const RowEpisode& episode) {
  grow(prototypes_, episode.n * episode.dim);
  for (auto* sums : {&total_, &moved_, &count_}) sums->assign(static_cast<size_t>(episode.n), 0.0F);
  for (int64_t k = 0; k < episode.n; ++k) {
    members_.clear();
    member_weights_.clear();
    for (size_t i = 0; i < nearest_.size(); ++i) {
      if (nearest_[i] != k) continue;
      members_.push_back(episode.rows[i]);
      member_weights_.push_back(weights_[i]);
      total_[static_cast<size_t>(k)] += weights_[i];
      if (i >= episode.label.size()) moved_[static_cast<size_t>(k)] += weights_[i];
    }
    const auto count = static_cast<int64_t>(members_.size());
    count_[static_cast<size_t>(k)] = static_cast<float>(count);
    sums_of_rows({members_.data(), count, member_weights_.data(), 1, count, episode.dim},
                 prototypes_.data() + k * episode.dim);
  }
}

}  // namespace protocom
