#pragma once
#include <ATen/ATen.h>

#include <algorithm>

#include "fewshot/plda/detail/share_prior.h"
#include "fewshot/plda/vb.h"
#include "fewshot/toolbox/detail/gaussian.h"

/// The formulas of docs/methods/plda.md as tensors of any float type, for whole spaces and whole batches: the reference
/// for the fast form (plda/detail/rows.h, plda/detail/vb_rows.h).
namespace protocom::testing {

/// A ClassMeanPrior, and the posterior, of whole batches.
struct PriorOfMeans {
  at::Tensor mean;      ///< [..., n, d]
  at::Tensor variance;  ///< [d] or [..., n, d]; 0: certain
};
struct PosteriorOfMeans {
  at::Tensor mean;      ///< [..., n, d]
  at::Tensor variance;  ///< [..., n, d]
};

/// Returns the prior without knowledge: mean 0 for n classes and the classes' own variance `between` [d].
inline PriorOfMeans nothing_known(const at::Tensor& between, int64_t n) {
  return {at::zeros({n, between.size(0)}, between.options()), between};
}

/// Returns the posterior after `count` [..., n] images whose features add up to `sum` [..., n, d]. Counts may differ
/// between classes (ragged shots), be 0 (which gives the prior) or fractions.
inline PosteriorOfMeans posterior_of(const PriorOfMeans& prior, const at::Tensor& count, const at::Tensor& sum) {
  // v = s / (1 + K s), m = (m0 + s S) / (1 + K s): no division by s, which is 0 for a certain mean.
  const at::Tensor gain = 1 + count.unsqueeze(-1) * prior.variance;  // [..., n, d]
  return {(prior.mean + prior.variance * sum) / gain, prior.variance / gain};
}

/// Returns log N(q; m, 1 + v) of queries [..., q, d] for each class, [..., q, n].
inline at::Tensor log_predictive(const PosteriorOfMeans& posterior, const at::Tensor& queries) {
  // -2 log N = sum log(1 + v) + q^2 w - 2 q (w m) + m^2 w + d log 2 pi, with w = 1 / (1 + v): two matrix products, and
  // nothing of the size [q, n, d].
  const at::Tensor weight = (1 + posterior.variance).reciprocal().expand_as(posterior.mean);
  const at::Tensor weighted = posterior.mean * weight;
  const at::Tensor own = (posterior.mean * weighted - weight.log()).sum(-1) +
                         static_cast<double>(queries.size(-1)) * kLogTwoPi;  // [..., n]
  const at::Tensor square = at::matmul(queries * queries, weight.transpose(-1, -2));
  return at::matmul(queries, weighted.transpose(-1, -2)) - 0.5 * (square + own.unsqueeze(-2));
}

/// Returns log N(q; 0, 1 + between) [..., q]: a class of which nothing at all is known.
inline at::Tensor log_predictive_of_unseen(const at::Tensor& between, const at::Tensor& queries) {
  const at::Tensor weight = (1 + between).reciprocal();
  const at::Tensor own = static_cast<double>(queries.size(-1)) * kLogTwoPi - weight.log().sum();
  return -0.5 * (at::matmul(queries * queries, weight) + own);
}

/// What the unlabelled images of a task reveal. Leading dimensions are independent episodes.
struct PldaVbResult {
  PosteriorOfMeans means;       ///< [..., n, d]
  at::Tensor log_share;         ///< [..., n]: added to each class's log likelihood for its share of images
  at::Tensor responsibilities;  ///< [..., u, n], of the unlabelled images; rows add up to 1
};

/// Returns -beta/2 sum_d [(x - m)^2 + u_d v] without x^2, which is the same for every class.
inline at::Tensor log_likelihood(const PosteriorOfMeans& means, const at::Tensor& x, const PldaVbOptions& options) {
  const int64_t dims = means.variance.size(-1);
  const int64_t uncertain = options.uncertain < 0 ? dims : std::min(options.uncertain, dims);
  const at::Tensor variance = means.variance.narrow(-1, 0, uncertain).sum(-1);
  const at::Tensor own = means.mean.square().sum(-1) + options.spread * variance;  // [..., n]
  return options.trust * (at::matmul(x, means.mean.transpose(-1, -2)) - 0.5 * own.unsqueeze(-2));
}

/// Returns column factors (as logarithms) that, with softmax over rows, give each of n columns u / n of the u rows.
/// Continues from `start`, the factors of the previous step, so that few iterations per step converge over the steps.
inline at::Tensor balancing_share(const at::Tensor& logits, const at::Tensor& start) {
  const at::Tensor target =
      at::full({}, static_cast<double>(logits.size(-2)) / static_cast<double>(logits.size(-1)), logits.options());
  at::Tensor share = start;
  for (int step = 0; step < kBalancingSteps; ++step) {
    const at::Tensor filled = (logits + share.unsqueeze(-2)).log_softmax(-1).logsumexp(-2);
    share = share + target.log() - filled;
  }
  return share;
}

inline at::Tensor given_share(const PldaVbOptions& options, at::ScalarType type) {
  const at::Tensor given = at::tensor(options.given, at::kDouble);
  return (given / given.sum()).clamp_min(kSmallestShare).log().to(type);
}

/// Returns E[log share] under each a_0 [g], weighted by how probable it makes the classes' images [..., n].
inline at::Tensor estimated_share(const at::Tensor& filled, const PldaVbOptions& options) {
  const at::Tensor a0 = options.concentration > 0
                            ? at::full({1, 1}, options.concentration, filled.options())
                            : at::tensor(kConcentrations, filled.options()).unsqueeze(-1);  // [g, 1]
  const at::Tensor a = a0 + filled.unsqueeze(-2);                                           // [..., g, n]
  const at::Tensor total = a.sum(-1);
  const auto n = static_cast<double>(filled.size(-1));
  const at::Tensor prior = a0.squeeze(-1);
  const at::Tensor evidence = (n * prior).lgamma() - total.lgamma() + a.lgamma().sum(-1) - n * prior.lgamma();
  const at::Tensor expected = a.digamma() - total.digamma().unsqueeze(-1);
  return (evidence.softmax(-1).unsqueeze(-1) * expected).sum(-2);
}

inline at::Tensor share_of(const at::Tensor& logits, const at::Tensor& filled, const at::Tensor& before,
                           const PldaVbOptions& options) {
  if (options.proportions == Proportions::kBalanced) return balancing_share(logits, before);
  if (options.proportions == Proportions::kGiven) return given_share(options, logits.scalar_type());
  return estimated_share(filled, options);
}

/// Runs variational EM by the formulas of PldaVbOptions: `count` [..., n], `sum` [..., n, d], unlabelled [..., u, d];
/// `handicap` [..., u, n] is added to their log likelihoods. Throws UsageError for settings out of range.
inline PldaVbResult plda_vb(const PriorOfMeans& prior, const at::Tensor& count, const at::Tensor& sum,
                            const at::Tensor& unlabelled, const PldaVbOptions& options = {},
                            const at::Tensor& handicap = {}) {
  check_options(options);
  PldaVbResult result;
  result.means = posterior_of(prior, count, sum);
  const int64_t u = unlabelled.size(-2);
  const int64_t n = sum.size(-2);
  if (u == 0) {
    result.log_share = options.proportions == Proportions::kGiven
                           ? given_share(options, sum.scalar_type()).expand_as(count)
                           : at::zeros_like(count);
    result.responsibilities = at::matmul(unlabelled, result.means.mean.transpose(-1, -2));  // [..., 0, n]
    return result;
  }
  result.log_share = at::zeros_like(count);
  const at::Tensor weight = count.mean(-1, true).rsqrt().clamp(options.least_weight, 1);  // [..., 1]
  at::Tensor filled = at::full_like(count, static_cast<double>(u) / static_cast<double>(n));
  for (int64_t step = 0; step <= options.steps; ++step) {
    at::Tensor logits = log_likelihood(result.means, unlabelled, options);
    if (handicap.defined()) logits = logits + handicap;
    result.log_share = share_of(logits, filled, result.log_share, options);
    if (options.proportions == Proportions::kEstimate) result.log_share = weight * result.log_share;
    // Responsibilities near the smallest float would make the products slow, and have no weight.
    result.responsibilities =
        at::threshold((logits + result.log_share.unsqueeze(-2)).softmax(-1), kSmallestResponsibility, 0);
    if (step == options.steps) break;  // the last E-step belongs to the returned means
    filled = result.responsibilities.sum(-2);
    result.means =
        posterior_of(prior, count + weight * filled,
                     sum + weight.unsqueeze(-1) * at::matmul(result.responsibilities.transpose(-1, -2), unlabelled));
  }
  return result;
}

/// Applies the same E-step to queries [..., q, d]: log r up to a constant per row, [..., q, n].
inline at::Tensor plda_vb_scores(const PldaVbResult& result, const at::Tensor& queries,
                                 const PldaVbOptions& options = {}) {
  return log_likelihood(result.means, queries, options) + result.log_share.unsqueeze(-2);
}

}  // namespace protocom::testing
