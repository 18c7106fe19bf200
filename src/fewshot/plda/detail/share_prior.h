#pragma once
#include <cstdint>
#include <vector>

namespace protocom {

/// The least share of a class, so that its logarithm is finite.
inline constexpr double kSmallestShare = 1e-12;

/// Iterations of Sinkhorn's scaling in one step of variational EM, from the factors of the step before.
inline constexpr int kBalancingSteps = 10;

/// A responsibility below this is none: near the smallest float, products are slow.
inline constexpr double kSmallestResponsibility = 1e-30;

/// What variational EM expects of the classes' shares of u images, under the Dirichlet prior of PldaVbOptions. Of one
/// episode and without tensors.
class SharePrior {
 public:
  /// Of n classes; a concentration of 0 weighs kConcentrations.
  SharePrior(int64_t n, int64_t u, double concentration);

  /// E[log share_c] [n] of the images that each class has by its responsibilities [n].
  void expect(const std::vector<float>& filled, std::vector<float>& log_share);

 private:
  struct Concentration {
    double value = 0;
    double log_evidence = 0;  ///< log p(responsibilities | value) without what depends on them
    double digamma_total = 0;
    double weight = 1;
  };

  void weigh(const std::vector<float>& filled);

  std::vector<Concentration> concentrations_;
};

}  // namespace protocom
