#include "fewshot/plda_vb_run.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "fewshot/row_kernels.h"

namespace protocom {
namespace {

constexpr int kSinkhornSteps = 10;
constexpr float kNothing = 1e-30F;
constexpr double kSmallestShare = 1e-12;

/// Recurrence up to 6, then the asymptotic series (Abramowitz and Stegun 6.3.18): good to 1e-10.
double digamma(double x) {
  double shift = 0;
  for (; x < 6; ++x) shift -= 1 / x;
  const double y = 1 / (x * x);
  return shift + std::log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y / 132))));
}

size_t at(int64_t i) { return static_cast<size_t>(i); }

/// One episode: pointers into its tensors.
struct Episode {
  int64_t n = 0;
  int64_t u = 0;
  int64_t dim = 0;     ///< of what is done in each dimension by itself
  int64_t stride = 0;  ///< of rows and sums
  const float* rows = nullptr;
  const float* count = nullptr;
  const float* sum = nullptr;         ///< [n, stride]
  const float* prior_mean = nullptr;  ///< [n, dim]
  const float* prior_variance = nullptr;
  // The rest by products: none where `gram` is null. T is the sum of supports plus the prior's mean over its variance.
  int64_t rest = 0;
  int64_t gram_stride = 0;
  const float* gram = nullptr;             ///< [u, gram_stride], of the unlabelled
  const float* cross = nullptr;            ///< [u, n], of the unlabelled with T
  const float* length = nullptr;           ///< [n], |T|^2
  const float* variance_rest = nullptr;    ///< [n]
  const float* given_log_share = nullptr;  ///< [n]
};

/// Variational EM of one episode after the other, in memory that is kept. The formulas are those of plda_vb.cc.
class VbRun {
 public:
  explicit VbRun(const PldaVbOptions& options) : options_(options) {}

  /// The last E-step's logits of the unlabelled go to `logits` [u, n].
  void run(const Episode& episode, float* logits) {
    begin(episode);
    for (int64_t step = 0; step <= options_.steps; ++step) {
      place_means();
      place_logits(logits);
      if (episode.u > 0) place_shares(logits);
      for (int64_t i = 0; i < episode.u; ++i) {
        for (int64_t c = 0; c < episode.n; ++c) logits[i * episode.n + c] += share_[at(c)];
      }
      if (step == options_.steps || episode.u == 0) break;
      place_responsibilities(logits);
    }
  }
  /// The same for other rows by the means of the last run; only without a rest.
  void score(const float* queries, int64_t count, float* logits) {
    dot(queries, count, logits);
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t c = 0; c < episode_.n; ++c) {
        float& logit = logits[i * episode_.n + c];
        logit = trust() * (logit - 0.5F * own_[at(c)]) + share_[at(c)];
      }
    }
  }

 private:
  [[nodiscard]] float trust() const { return static_cast<float>(options_.trust); }

  void begin(const Episode& episode) {
    episode_ = episode;
    const int64_t n = episode.n;
    means_.resize(at(n * episode.dim));
    sums_.resize(at(n * episode.dim));
    squares_.resize(at(n * episode.dim));
    weights_.assign(at(episode.u * n), 0.0F);
    by_class_.assign(at(n * episode.gram_stride), 0.0F);
    rest_dots_.resize(at(episode.u * n));
    filled_.assign(at(n), 0.0F);
    share_.assign(at(n), 0.0F);
    own_.resize(at(n));
    gain_rest_.assign(at(n), 0.0F);
    pointers_.clear();
    gram_rows_.clear();
    for (int64_t i = 0; i < episode.u; ++i) {
      pointers_.push_back(episode.rows + i * episode.stride);
      if (episode.gram != nullptr) gram_rows_.push_back(episode.gram + i * episode.gram_stride);
    }
    started_ = false;
  }

  /// M-step: the means from the labelled images and the weighted unlabelled ones; own_ becomes |m|^2 + spread sum v.
  void place_means() {
    const int64_t n = episode_.n;
    const int64_t dim = episode_.dim;
    for (int64_t c = 0; c < n; ++c) std::copy_n(episode_.sum + c * episode_.stride, dim, sums_.data() + c * dim);
    if (started_)
      add_weighted_sums({pointers_.data(), episode_.u, weights_.data(), n, dim}, sums_.data(), squares_.data());
    const auto spread = static_cast<float>(options_.spread);
    for (int64_t c = 0; c < n; ++c) {
      const float count = episode_.count[c] + filled_[at(c)];
      float* mean = means_.data() + c * dim;
      const float* prior = episode_.prior_mean + c * dim;
      const float* variance = episode_.prior_variance + c * dim;
      const float* sum = sums_.data() + c * dim;
      float total = 0;
      for (int64_t d = 0; d < dim; ++d) {
        const float gain = 1.0F / (1.0F + count * variance[d]);
        mean[d] = (prior[d] + variance[d] * sum[d]) * gain;
        total += variance[d] * gain;
      }
      own_[at(c)] = row_dot(mean, mean, dim) + spread * total;
      if (episode_.gram == nullptr) continue;
      const float rest = episode_.variance_rest[c];
      gain_rest_[at(c)] = rest / (1.0F + count * rest);
      own_[at(c)] += spread * static_cast<float>(episode_.rest) * gain_rest_[at(c)];
    }
    if (episode_.gram != nullptr) place_rest();
  }

  /// What the rest adds: rest_dots_ [u, n] = x . m and own_ += |m|^2, for m = gain (T + sum_j w_j x_j).
  void place_rest() {
    const int64_t n = episode_.n;
    const int64_t u = episode_.u;
    if (started_) {
      for (int64_t i = 0; i < u; ++i) {
        for (int64_t c = 0; c < n; ++c) by_class_[at(c * episode_.gram_stride + i)] = weights_[at(i * n + c)];
      }
      row_dots({gram_rows_.data(), u, by_class_.data(), n, episode_.gram_stride, n}, rest_dots_.data());
    } else {
      std::fill(rest_dots_.begin(), rest_dots_.end(), 0.0F);
    }
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

  void dot(const float* rows, int64_t count, float* logits) {
    query_pointers_.clear();
    for (int64_t i = 0; i < count; ++i) query_pointers_.push_back(rows + i * episode_.stride);
    row_dots({query_pointers_.data(), count, means_.data(), episode_.n, episode_.dim, episode_.n}, logits);
  }

  void place_logits(float* logits) {
    dot(episode_.rows, episode_.u, logits);
    const bool rest = episode_.gram != nullptr;
    for (int64_t i = 0; i < episode_.u; ++i) {
      for (int64_t c = 0; c < episode_.n; ++c) {
        const int64_t place = i * episode_.n + c;
        const float more = rest ? rest_dots_[at(place)] : 0.0F;
        logits[place] = trust() * (logits[place] + more - 0.5F * own_[at(c)]);
      }
    }
  }

  void place_shares(const float* logits) {
    const auto each = static_cast<double>(episode_.u) / static_cast<double>(episode_.n);
    if (options_.proportions == Proportions::kGiven) {
      share_.assign(episode_.given_log_share, episode_.given_log_share + episode_.n);
    } else if (options_.proportions == Proportions::kBalanced) {
      balance(logits, each);
    } else {
      double total = 0;
      for (int64_t c = 0; c < episode_.n; ++c) total += options_.concentration + (started_ ? filled_[at(c)] : each);
      for (int64_t c = 0; c < episode_.n; ++c) {
        const double own = options_.concentration + (started_ ? filled_[at(c)] : each);
        share_[at(c)] = static_cast<float>(digamma(own) - digamma(total));
      }
    }
  }

  /// Sinkhorn's scaling of the columns, from the shares of the step before.
  void balance(const float* logits, double target) {
    const int64_t n = episode_.n;
    for (int64_t i = 0; i < episode_.u; ++i) {
      for (int64_t c = 0; c < n; ++c) weights_[at(i * n + c)] = logits[i * n + c] + share_[at(c)];
    }
    softmax_rows(weights_.data(), episode_.u, n);
    factor_.assign(at(n), 1.0);
    for (int step = 0; step < kSinkhornSteps; ++step) {
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

  void place_responsibilities(const float* logits) {
    std::copy_n(logits, episode_.u * episode_.n, weights_.data());
    softmax_rows(weights_.data(), episode_.u, episode_.n);
    std::fill(filled_.begin(), filled_.end(), 0.0F);
    for (int64_t i = 0; i < episode_.u; ++i) {
      for (int64_t c = 0; c < episode_.n; ++c) {
        float& weight = weights_[at(i * episode_.n + c)];
        if (weight <= kNothing) weight = 0;  // near the smallest float, products would be slow
        filled_[at(c)] += weight;
      }
    }
    started_ = true;
  }

  PldaVbOptions options_;
  Episode episode_;
  bool started_ = false;                                          // there are responsibilities
  std::vector<float> means_, sums_, squares_;                     // [n, dim]
  std::vector<float> weights_, rest_dots_;                        // [u, n]
  std::vector<float> by_class_;                                   // [n, gram_stride]
  std::vector<float> filled_, share_, own_, gain_rest_, square_;  // [n]
  std::vector<double> factor_, column_;                           // [n]
  std::vector<const float*> pointers_, gram_rows_, query_pointers_;
};

/// Products of the rows [b, u, dim] of an episode with one another, [b, u, u filled up with zeros]: those of each block
/// of rows with what follows, and the same transposed.
at::Tensor gram_of(const at::Tensor& rows) {
  constexpr int64_t kBlock = 16;
  const int64_t u = rows.size(1);
  const int64_t dim = rows.size(2);
  const int64_t stride = padded_length(u);
  at::Tensor gram = at::zeros({rows.size(0), u, stride});
  std::vector<const float*> pointers(static_cast<size_t>(u));
  for (int64_t e = 0; e < rows.size(0); ++e) {
    const float* own = rows.data_ptr<float>() + e * u * dim;
    float* products = gram.data_ptr<float>() + e * u * stride;
    for (int64_t i = 0; i < u; ++i) pointers[at(i)] = own + i * dim;
    for (int64_t begin = 0; begin < u; begin += kBlock) {
      const int64_t columns = std::min(kBlock, u - begin);
      row_dots({pointers.data() + begin, u - begin, own + begin * dim, columns, dim, stride},
               products + begin * stride + begin);
      for (int64_t i = begin + columns; i < u; ++i) {
        for (int64_t j = begin; j < begin + columns; ++j) products[j * stride + i] = products[i * stride + j];
      }
    }
  }
  return gram;
}

/// The products that the rest needs, [b, ...]; undefined tensors: everything is done dimension by dimension.
struct Products {
  at::Tensor gram, cross, length;
};

Products products_of(const PldaVbRows& task, const PldaLayout& layout) {
  const auto& prior = task.prior;
  const int64_t rest = prior.mean_rest.size(-1);
  const auto part = [&](const at::Tensor& rows) { return rows.narrow(-1, layout.rest_begin(), rest); };
  const at::Tensor variance = prior.variance_rest.unsqueeze(-1).clamp_min(1e-12);
  const at::Tensor total = part(task.sum) + prior.mean_rest / variance;  // [b, n, rest]
  const at::Tensor images = part(task.unlabelled).contiguous();
  return {gram_of(images), row_products(images, total), total.square().sum(-1).contiguous()};
}

/// A belief of whole rows: the squares between the parts have the variance 0, so that they count for nothing.
PldaRowBelief as_one_part(const PldaRowBelief& prior, const PldaLayout& layout) {
  std::vector<int64_t> between = prior.mean_own.sizes().vec();
  between.back() = layout.rest_begin() - layout.padded;
  const at::Tensor nothing = at::zeros(between);
  const int64_t padding = prior.mean_rest.size(-1) - layout.rest();
  const at::Tensor rest = prior.variance_rest.unsqueeze(-1).expand([&] {
    std::vector<int64_t> sizes = prior.mean_rest.sizes().vec();
    sizes.back() = layout.rest();
    return sizes;
  }());
  return {at::cat({prior.mean_own, nothing, prior.mean_rest}, -1),
          at::cat({prior.variance_own, nothing, at::constant_pad_nd(rest, {0, padding})}, -1),
          {},
          {}};
}

}  // namespace

at::Tensor plda_vb_rows(const PldaVbRows& task, const PldaLayout& layout, const PldaVbOptions& options) {
  check_options(options);
  const int64_t b = task.unlabelled.size(0);
  const int64_t u = task.unlabelled.size(1);
  const int64_t n = task.sum.size(1);
  const bool by_products = !task.queries.defined() && layout.rest() > 0 && u <= layout.rest();
  const Products products = by_products ? products_of(task, layout) : Products();
  const PldaRowBelief whole = by_products ? task.prior : as_one_part(task.prior, layout);
  const at::Tensor mean = whole.mean_own.contiguous();
  const at::Tensor variance = whole.variance_own.contiguous();
  const at::Tensor rest = task.prior.variance_rest.contiguous();
  const at::Tensor unlabelled = task.unlabelled.contiguous();
  const at::Tensor queries = task.queries.defined() ? task.queries.contiguous() : unlabelled;
  const at::Tensor sum = task.sum.contiguous();
  const at::Tensor count = task.count.contiguous();
  at::Tensor share;
  if (options.given.defined()) {
    const at::Tensor given = options.given.to(at::kFloat);
    share = (given / given.sum(-1, true)).clamp_min(kSmallestShare).log().expand({b, n}).contiguous();
  }
  at::Tensor logits = at::empty({b, queries.size(1), n});
  std::vector<float> unlabelled_logits(static_cast<size_t>(u * n));
  const auto row = [](const at::Tensor& all, int64_t i) {
    return all.defined() ? all.data_ptr<float>() + i * all.stride(0) : nullptr;
  };
  VbRun run(options);
  for (int64_t i = 0; i < b; ++i) {
    Episode episode;
    episode.n = n;
    episode.u = u;
    episode.dim = mean.size(-1);
    episode.stride = layout.width();
    episode.rows = row(unlabelled, i);
    episode.count = row(count, i);
    episode.sum = row(sum, i);
    episode.prior_mean = row(mean, i);
    episode.prior_variance = row(variance, i);
    episode.given_log_share = row(share, i);
    if (by_products) {
      episode.rest = layout.rest();
      episode.gram_stride = padded_length(u);
      episode.gram = row(products.gram, i);
      episode.cross = row(products.cross, i);
      episode.length = row(products.length, i);
      episode.variance_rest = row(rest, i);
    }
    run.run(episode, task.queries.defined() ? unlabelled_logits.data() : row(logits, i));
    if (task.queries.defined()) run.score(row(queries, i), queries.size(1), row(logits, i));
  }
  return logits;
}

}  // namespace protocom
