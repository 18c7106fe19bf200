#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// What is believed of class means, in a PldaSpace, before their images: mu_c ~ N(mean, diag(variance)):
/// by kernel ridge on descriptions, or nothing.
struct ClassMeanPrior {
  at::Tensor mean;      ///< [..., n, d]
  at::Tensor variance;  ///< [d] or [..., n, d]; 0: it is sure
};

/// No knowledge: mean 0 for n classes and the classes' own variance `between` [d].
ClassMeanPrior no_knowledge(const at::Tensor& between, at::IntArrayRef leading_sizes);

/// The same after images.
struct ClassMeanPosterior {
  at::Tensor mean;      ///< [..., n, d]
  at::Tensor variance;  ///< [..., n, d]
};

/// The posterior after `count` [..., n] images whose features add up to `sum` [..., n, d], each N(mu, I). Per
/// dimension, v = s / (1 + count s) and m = (prior mean + s sum) / (1 + count s) for a prior variance s, which is
/// (tau m_0 + sum) / (tau + count) with tau = 1 / s: a prior counts as tau images. Counts may differ between classes
/// (ragged shots), be 0 (then it is the prior) or fractions.
ClassMeanPosterior class_mean_posterior(const ClassMeanPrior& prior, const at::Tensor& count, const at::Tensor& sum);

}  // namespace protocom
