#pragma once
#include "base/matrix.h"

namespace protocom {

/// The prior of class means, in a PldaSpace, before their images: mu_c ~ N(mean, diag(variance)): from kernel ridge on
/// descriptions, or uninformed. After K images with sum S, each N(mu, I), the variance v and the mean m are, per
/// dimension, v = s / (1 + K s) and m = (m_0 + s S) / (1 + K s) for a prior variance s, which is (tau m_0 + S) /
/// (tau + K) with tau = 1 / s: a prior counts as tau images (row_posterior).
struct ClassMeanPrior {
  DoubleMatrix mean;      ///< [n, e]
  DoubleMatrix variance;  ///< [1, e] for all or [n, e]; 0: certain
};

/// Returns the prior without knowledge: mean 0 for n classes and the classes' own variance `between` [e].
inline ClassMeanPrior no_knowledge(const DoubleVector& between, int64_t n) {
  return {DoubleMatrix::Zero(n, between.size()), between.transpose()};
}

}  // namespace protocom
