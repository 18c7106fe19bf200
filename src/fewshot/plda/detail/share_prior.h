#pragma once
#include <cstdint>
#include <vector>

namespace protocom {

/// The least share of a class, so that its logarithm is finite.
inline constexpr double kSmallestShare = 1e-12;

/// Iterations of Sinkhorn's scaling in one step of variational EM, starting from the factors of the previous step.
inline constexpr int kBalancingSteps = 10;

/// A smaller responsibility counts as 0: near the smallest float, products are slow.
inline constexpr double kSmallestResponsibility = 1e-30;

/// The expected shares of the classes among u images in variational EM, under the Dirichlet prior of PldaVbOptions. For
/// one episode and without tensors.
class SharePrior {
 public:
  /// For n classes; a concentration of 0 averages over kConcentrations.
  SharePrior(int64_t n, int64_t u, double concentration);

  /// Computes E[log share_c] [n] from each class's sum of responsibilities [n].
  void expect(const std::vector<float>& filled, std::vector<float>& log_share);

 private:
  struct Concentration {
    double value = 0;
    double log_evidence = 0;  ///< log p(responsibilities | value) without the terms that depend on the responsibilities
    double digamma_total = 0;
    double weight = 1;
  };

  void weigh(const std::vector<float>& filled);

  std::vector<Concentration> concentrations_;
};

}  // namespace protocom
