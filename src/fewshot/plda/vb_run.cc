#include "fewshot/plda/detail/vb_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fewshot/row_kernels.h"

// Variational EM of one episode (docs/methods/plda.md#batches), n classes and u unlabelled images (run):
//   1. No responsibilities yet; weigh an unlabelled image against a labelled one (begin, unlabelled_weight).
//   2. options.steps + 1 times:
//      a. M-step: the posterior mean m of each class from prior, labelled and weighted unlabelled images, and its
//         |m|^2 + spread * (sum of variances) (compute_means). In the dimensions that share one variance only inner
//         products of images are needed (compute_rest).
//      b. Logits: trust * (x . m - half of that number), plus the handicap (compute_logits).
//      c. Log shares of the classes: given, equal by Sinkhorn's scaling (balance), or expected by their Dirichlet
//         posterior (compute_shares). Add them to the logits.
//      d. E-step, but not after the last M-step: the responsibilities are the softmax of the logits; tiny ones become 0
//         (compute_responsibilities).
//   3. The last logits are the answer; score() computes those of other images with the last means and shares.
namespace protocom {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

void PldaVbRun::run(const PldaVbEpisode& episode, float* logits) {
  begin(episode);
  // An M-step, then the logits of the E-step: the last logits are the answer, so there is one more M-step than steps.
  for (int64_t step = 0; step <= options_.steps; ++step) {
    compute_means();
    compute_logits(logits);
    if (episode.u > 0) compute_shares(logits);
    for (int64_t i = 0; i < episode.u; ++i) {
      for (int64_t c = 0; c < episode.n; ++c) logits[i * episode.n + c] += share_[at(c)];
    }
    if (step == options_.steps || episode.u == 0) break;
    compute_responsibilities(logits);
  }
}

void PldaVbRun::score(const float* const* queries, int64_t count, float* logits) {
  dot(queries, count, logits);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t c = 0; c < episode_.n; ++c) {
      float& logit = logits[i * episode_.n + c];
      logit = trust() * (logit - 0.5F * own_[at(c)]) + share_[at(c)];
    }
  }
}

void PldaVbRun::begin(const PldaVbEpisode& episode) {
  episode_ = episode;
  const int64_t n = episode.n;
  means_.resize(at(n * episode.dim));
  sums_.resize(at(n * episode.dim));
  weights_.assign(at(episode.u * n), 0.0F);
  by_class_.assign(at(n * padded_length(episode.u)), 0.0F);
  rest_dots_.resize(at(episode.u * n));
  filled_.assign(at(n), 0.0F);
  share_.assign(at(n), 0.0F);
  own_.resize(at(n));
  gain_rest_.assign(at(n), 0.0F);
  gram_rows_.clear();
  for (int64_t i = 0; i < episode.u && episode.gram != nullptr; ++i)
    gram_rows_.push_back(episode.gram + i * episode.gram_stride);
  weight_ = unlabelled_weight(std::accumulate(episode.count, episode.count + n, 0.0F), n, options_);
  started_ = false;
  prior_ = SharePrior(n, episode.u, options_.concentration);
}

float unlabelled_weight(float images, int64_t n, const PldaVbOptions& vb) {
  const auto least = static_cast<float>(vb.least_weight);
  return std::clamp(std::sqrt(static_cast<float>(n) / std::max(images, 1e-6F)), least, 1.0F);
}

void PldaVbRun::compute_by_class() {
  const int64_t n = episode_.n, stride = padded_length(episode_.u);
  for (int64_t i = 0; i < episode_.u; ++i) {
    for (int64_t c = 0; c < n; ++c) by_class_[at(c * stride + i)] = weights_[at(i * n + c)];
  }
}

void PldaVbRun::compute_means() {
  const int64_t n = episode_.n;
  const int64_t dim = episode_.dim;
  if (started_) {
    compute_by_class();
    sums_of_rows({episode_.rows, episode_.u, by_class_.data(), n, padded_length(episode_.u), dim}, sums_.data());
  } else {
    std::fill(sums_.begin(), sums_.end(), 0.0F);
  }
  const auto spread = static_cast<float>(options_.spread);
  const int64_t uncertain = options_.uncertain < 0 ? dim : options_.uncertain;
  for (int64_t c = 0; c < n; ++c) {
    const float count = episode_.count[c] + weight_ * filled_[at(c)];
    float* mean = means_.data() + c * dim;
    const float* prior = episode_.prior_mean + c * dim;
    const float* variance = episode_.prior_variance + c * dim;
    const float* labelled = episode_.sum + c * episode_.stride;
    const float* unlabelled = sums_.data() + c * dim;
    float total = 0;
    for (int64_t d = 0; d < dim; ++d) {
      const float gain = 1.0F / (1.0F + count * variance[d]);
      mean[d] = (prior[d] + variance[d] * (labelled[d] + unlabelled[d])) * gain;
      total += d < uncertain ? variance[d] * gain : 0.0F;
    }
    own_[at(c)] = row_dot(mean, mean, dim) + spread * total;
    if (episode_.gram == nullptr) continue;
    const float rest = episode_.variance_rest[c];
    gain_rest_[at(c)] = rest / (1.0F + count * rest);
  }
  if (episode_.gram != nullptr) compute_rest();
}

void PldaVbRun::compute_rest() {
  const int64_t n = episode_.n;
  const int64_t u = episode_.u;
  if (started_) {
    row_dots({gram_rows_.data(), u, by_class_.data(), n, episode_.gram_stride, n}, rest_dots_.data());
  } else {
    std::fill(rest_dots_.begin(), rest_dots_.end(), 0.0F);
  }
  // With m = gain (T + sum_j w_j x_j), neither m nor its products need a vector of the rest: |m|^2 / gain^2 = |T|^2 +
  // sum_j w_j (2 x_j.T + sum_i w_i x_i.x_j), and x.m likewise.
  square_.assign(episode_.length, episode_.length + n);
  for (int64_t i = 0; i < u; ++i) {
    for (int64_t c = 0; c < n; ++c) {
      const float cross = episode_.cross[i * n + c];
      float& dot = rest_dots_[at(i * n + c)];
      square_[at(c)] += weights_[at(i * n + c)] * (2.0F * cross + dot);
      dot = gain_rest_[at(c)] * (cross + dot);
    }
  }
  for (int64_t c = 0; c < n; ++c) own_[at(c)] += gain_rest_[at(c)] * gain_rest_[at(c)] * square_[at(c)];
}

void PldaVbRun::dot(const float* const* rows, int64_t count, float* logits) {
  row_dots({rows, count, means_.data(), episode_.n, episode_.dim, episode_.n}, logits);
}

void PldaVbRun::compute_logits(float* logits) {
  dot(episode_.rows, episode_.u, logits);
  const bool rest = episode_.gram != nullptr;
  for (int64_t i = 0; i < episode_.u; ++i) {
    for (int64_t c = 0; c < episode_.n; ++c) {
      const int64_t place = i * episode_.n + c;
      const float more = rest ? rest_dots_[at(place)] : 0.0F;
      // -1/2 |x - m|^2 without |x|^2, which is the same for all classes.
      logits[place] = trust() * (logits[place] + more - 0.5F * own_[at(c)]);
      if (episode_.handicap != nullptr) logits[place] += episode_.handicap[place];
    }
  }
}

void PldaVbRun::compute_shares(const float* logits) {
  const auto each = static_cast<double>(episode_.u) / static_cast<double>(episode_.n);
  if (options_.proportions == Proportions::kGiven) {
    share_.assign(episode_.given_log_share, episode_.given_log_share + episode_.n);
  } else if (options_.proportions == Proportions::kBalanced) {
    balance(logits, each);
  } else {
    prior_.expect(filled_, share_);
    for (float& share : share_) share *= weight_;
  }
}

void PldaVbRun::balance(const float* logits, double target) {
  const int64_t n = episode_.n;
  for (int64_t i = 0; i < episode_.u; ++i) {
    for (int64_t c = 0; c < n; ++c) weights_[at(i * n + c)] = logits[i * n + c] + share_[at(c)];
  }
  softmax_rows(weights_.data(), episode_.u, n);
  // Sinkhorn by factors of the columns, on rows that sum to 1: scales probabilities instead of taking logarithms in
  // each step.
  factor_.assign(at(n), 1.0);
  for (int step = 0; step < kBalancingSteps; ++step) {
    column_.assign(at(n), 0.0);
    for (int64_t i = 0; i < episode_.u; ++i) {
      const float* row = weights_.data() + i * n;
      double sum = 0;
      for (int64_t c = 0; c < n; ++c) sum += row[c] * factor_[at(c)];
      const double inverse = 1 / sum;
      for (int64_t c = 0; c < n; ++c) column_[at(c)] += row[c] * factor_[at(c)] * inverse;
    }
    for (int64_t c = 0; c < n; ++c) factor_[at(c)] *= target / std::max(column_[at(c)], 1e-300);
  }
  for (int64_t c = 0; c < n; ++c) share_[at(c)] += static_cast<float>(std::log(factor_[at(c)]));
}

void PldaVbRun::compute_responsibilities(const float* logits) {
  std::copy_n(logits, episode_.u * episode_.n, weights_.data());
  softmax_rows(weights_.data(), episode_.u, episode_.n);
  std::fill(filled_.begin(), filled_.end(), 0.0F);
  for (int64_t i = 0; i < episode_.u; ++i) {
    for (int64_t c = 0; c < episode_.n; ++c) {
      float& weight = weights_[at(i * episode_.n + c)];
      if (weight <= static_cast<float>(kSmallestResponsibility)) weight = 0;
      filled_[at(c)] += weight;
      // filled_ counts images, sums weight each of them.
      weight *= weight_;
    }
  }
  started_ = true;
}

}  // namespace protocom
