#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "fewshot/plda/class_mean_prior.h"

namespace protocom {

/// The assumption about the classes' proportions among unlabelled images.
enum class Proportions {
  kEstimate,  ///< none: estimated along with the means (Dirichlet prior)
  kBalanced,  ///< equal: Sinkhorn's scaling of the responsibilities
  kGiven      ///< PldaVbOptions::given
};

/// Values tried for an unknown a_0: from a few classes having nearly all images to all having about as many.
inline constexpr std::array<double, 4> kConcentrations = {0.5, 2, 10, 50};

/// Settings of variational EM for a mixture of N(mu_c, I) with a prior of the means, labelled images and unlabelled
/// images x_j:
///   log r_jc = log share_c - beta/2 sum_d [(x_j - m_c)^2 + u_d v_c] + const, u_d = spread in the first `uncertain`
///   dimensions, else 0,  m, v = row_posterior(prior, count + sum_j r_jc, sum + sum_j r_jc x_j),
/// started from the labelled images alone. kEstimate: log share_c = E[psi(a_c) - psi(sum a)], a_c = a_0 + sum_j r_jc,
/// over q(a_0) ~ Gamma(n a_0) / Gamma(n a_0 + u) prod_c Gamma(a_c) / Gamma(a_0), which is the optimum of the bound;
/// kBalanced: the factors of Sinkhorn's scaling that give every class u / n images; kGiven: the logarithm of the given
/// shares. (Attias 2000; Bishop 2006, 10.2, with a diagonal prior of each mean.) Without unlabelled images it is the
/// posterior given the labelled ones. `least_weight` and `plausible` keep a batch from contradicting the labelled
/// images; unlike the rest they are not part of that model. The defaults are chosen for Tiny-ImageNet-100 and CUB-100
/// (val), 1 and 5 shots.
struct PldaVbOptions {
  int64_t steps = 20;
  /// beta in [0, 1]: the factor of the log likelihood. Below 1 because dimensions are not independent and classes not
  /// Gaussian, so that the sum over dimensions overstates the evidence.
  double trust = 0.5;
  /// u in [0, 1]: the weight of the means' own uncertainty against a class (1: as in the variational bound).
  double spread = 0.5;
  /// The number of first dimensions in which the uncertainty counts, those in which base classes differ; -1: all. Of
  /// the hundreds of others only the mean variance is known: if that is too large, the class that happens to have most
  /// images attracts all others.
  int64_t uncertain = -1;
  /// a_0 of the Dirichlet prior; 0: average over kConcentrations, weighted by how probable each makes the
  /// responsibilities.
  double concentration = 0.0;
  /// Bound on a batch's answers by the labelled images alone: a class is penalised (vb_handicap) if they make it less
  /// than this many times as likely as the likeliest one. 0: no bound. For spaces that follow the labelled images.
  double plausible = 0.0;
  /// Least weight of an unlabelled image relative to a labelled one: the weight is 1 / sqrt(K) with K labelled images
  /// per class (their mean), at least this and at most 1 (EM-lambda: Nigam et al. 2000). log share_c is multiplied by
  /// it too. With one labelled image the unlabelled ones have to move the means; with many they must not outvote them.
  double least_weight = 1.0;
  /// nu of the inverse Wishart prior of the within-class covariance against the scatter of the unlabelled images about
  /// their class means, in images (plda/detail/batch_space.h): for spaces that follow the images. 0: the covariance
  /// stays.
  double degrees = 0.0;
  Proportions proportions = Proportions::kEstimate;
  std::vector<double> given = {};  ///< [n], the classes' shares for kGiven; scaled to sum to 1
};

/// Throws UsageError for settings out of their range.
void check_options(const PldaVbOptions& options);

}  // namespace protocom
