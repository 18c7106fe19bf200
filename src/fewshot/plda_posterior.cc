#include "protocom/fewshot/plda_posterior.h"

#include <ATen/ATen.h>

#include "fewshot/gaussian.h"

namespace protocom {
ClassMeanPrior no_knowledge(const at::Tensor& between, at::IntArrayRef leading_sizes) {
  std::vector<int64_t> sizes = leading_sizes.vec();
  sizes.push_back(between.size(0));
  return {at::zeros(sizes, between.options()), between};
}

ClassMeanPosterior class_mean_posterior(const ClassMeanPrior& prior, const at::Tensor& count, const at::Tensor& sum) {
  const at::Tensor gain = 1 + count.unsqueeze(-1) * prior.variance;  // [..., n, d]
  return {(prior.mean + prior.variance * sum) / gain, prior.variance / gain};
}

at::Tensor log_predictive(const ClassMeanPosterior& posterior, const at::Tensor& queries) {
  // -2 log N = sum log(1 + v) + q^2 w - 2 q (w m) + m^2 w + d log 2 pi, with w = 1 / (1 + v): two matrix products, and
  // nothing of the size [q, n, d].
  const at::Tensor weight = (1 + posterior.variance).reciprocal().expand_as(posterior.mean);
  const at::Tensor weighted = posterior.mean * weight;
  const at::Tensor own = (posterior.mean * weighted - weight.log()).sum(-1) +
                         static_cast<double>(queries.size(-1)) * kLogTwoPi;  // [..., n]
  const at::Tensor square = at::matmul(queries * queries, weight.transpose(-1, -2));
  return at::matmul(queries, weighted.transpose(-1, -2)) - 0.5 * (square + own.unsqueeze(-2));
}

at::Tensor log_predictive_of_unseen(const at::Tensor& between, const at::Tensor& queries) {
  const at::Tensor weight = (1 + between).reciprocal();
  const at::Tensor own = static_cast<double>(queries.size(-1)) * kLogTwoPi - weight.log().sum();
  return -0.5 * (at::matmul(queries * queries, weight) + own);
}

}  // namespace protocom
