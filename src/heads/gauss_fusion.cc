#include "heads/gauss_fusion.h"

#include <ATen/ATen.h>

#include "heads/cosine_classifier.h"

namespace protocom {

ClassGaussians weighted_gaussians(const SupportStatistics& support, const at::Tensor& queries,
                                  const at::Tensor& probabilities) {
  const at::Tensor weights = probabilities.transpose(-1, -2);                    // [..., n, q]
  const at::Tensor total = (support.count + weights.sum(-1)).unsqueeze(-1);      // [..., n, 1]
  const at::Tensor mean = (support.sum + at::matmul(weights, queries)) / total;  // [..., n, d]
  const at::Tensor square = (support.sum_squares + at::matmul(weights, queries * queries)) / total;
  return {mean, (square - mean * mean).clamp_min(0)};
}

at::Tensor posterior_mean(const ClassGaussians& a, const ClassGaussians& b, double epsilon) {
  const at::Tensor variance_a = a.variance + epsilon;
  const at::Tensor variance_b = b.variance + epsilon;
  return (variance_a * b.mean + variance_b * a.mean) / (variance_a + variance_b);
}

at::Tensor gauss_fusion(const SupportStatistics& support, const at::Tensor& completed, const at::Tensor& queries,
                        const GaussFusionOptions& options) {
  const at::Tensor mean = mean_prototypes(support);
  if (queries.size(-2) == 0) return fuse_by_mean(mean, completed);
  const auto from = [&](const at::Tensor& prototypes) {
    ClassGaussians gaussians{prototypes, {}};
    for (int64_t step = 0; step < options.steps; ++step)
      gaussians = weighted_gaussians(support, queries, cosine_probabilities(queries, gaussians.mean, options.scale));
    return gaussians;
  };
  return posterior_mean(from(mean), from(completed), options.epsilon);
}

at::Tensor fuse_by_mean(const at::Tensor& mean, const at::Tensor& completed) { return 0.5 * mean + 0.5 * completed; }

}  // namespace protocom
