#pragma once
#include <ATen/core/Tensor.h>

#include "fewshot/paper/gauss_fusion_options.h"
#include "heads/episode_batch.h"

namespace protocom {

/// A diagonal Gaussian per class.
struct ClassGaussians {
  at::Tensor mean;      ///< float32 [..., n, d]
  at::Tensor variance;  ///< float32 [..., n, d], with the sum of the weights as divisor
};

/// Returns the weighted mean and variance (equations 13 and 14) of supports, with weight 1 for their own class, and
/// queries [..., q, d] weighted by `probabilities` [..., q, n].
ClassGaussians weighted_gaussians(const SupportStatistics& support, const at::Tensor& queries,
                                  const at::Tensor& probabilities);

/// Returns the mean of the product of two diagonal Gaussians (section 3.4 and the supplement): element-wise (var_a *
/// mean_b + var_b * mean_a) / (var_a + var_b), with epsilon added to both variances. [..., n, d].
at::Tensor posterior_mean(const ClassGaussians& a, const ClassGaussians& b, double epsilon);

/// Returns fused prototypes, float32 [..., n, d] (transductive: uses every query). `mean` and `completed` are
/// [..., n, d], `queries` [..., q, d]. Without queries it is the inductive form, fuse_by_mean. Differentiable.
at::Tensor gauss_fusion(const SupportStatistics& support, const at::Tensor& completed, const at::Tensor& queries,
                        const GaussFusionOptions& options = {});

/// Returns 0.5 * mean + 0.5 * completed: row iii of the ablation (table 4), and the fallback of GaussFusion without
/// queries.
at::Tensor fuse_by_mean(const at::Tensor& mean, const at::Tensor& completed);

}  // namespace protocom
