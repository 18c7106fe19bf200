#include "fewshot/plda/posterior.h"

#include <ATen/ATen.h>

namespace protocom {

ClassMeanPrior no_knowledge(const at::Tensor& between, at::IntArrayRef leading_sizes) {
  std::vector<int64_t> sizes = leading_sizes.vec();
  sizes.push_back(between.size(0));
  return {at::zeros(sizes, between.options()), between};
}

ClassMeanPosterior class_mean_posterior(const ClassMeanPrior& prior, const at::Tensor& count, const at::Tensor& sum) {
  // v = s / (1 + K s), m = (m0 + s S) / (1 + K s): no division by s, which is 0 where a mean is sure.
  const at::Tensor gain = 1 + count.unsqueeze(-1) * prior.variance;  // [..., n, d]
  return {(prior.mean + prior.variance * sum) / gain, prior.variance / gain};
}

}  // namespace protocom
