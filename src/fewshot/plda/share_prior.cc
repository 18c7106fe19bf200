#include "fewshot/plda/detail/share_prior.h"

#include <algorithm>
#include <cmath>

#include "fewshot/plda/vb.h"
#include "fewshot/toolbox/detail/digamma.h"

namespace protocom {

SharePrior::SharePrior(int64_t n, int64_t u, double concentration) {
  const auto classes = static_cast<double>(n);
  const auto images = static_cast<double>(u);
  const auto add = [&](double a) {
    // log P(labels | a) for shares drawn from Dirichlet(a) = lgamma(n a) - lgamma(n a + u) + sum_c [lgamma(a + r_c) -
    // lgamma(a)]; the terms with r_c are added in weigh().
    const double evidence = std::lgamma(classes * a) - std::lgamma(classes * a + images) - classes * std::lgamma(a);
    concentrations_.push_back({a, evidence, digamma(classes * a + images)});
  };
  if (concentration > 0)
    add(concentration);
  else
    std::for_each(kConcentrations.begin(), kConcentrations.end(), add);
}

/// Computes the concentrations' posterior under a flat prior; the largest logarithm is subtracted, so that it becomes
/// exp(0).
void SharePrior::weigh(const std::vector<float>& filled) {
  if (concentrations_.size() == 1) return;
  double most = -HUGE_VAL;
  for (Concentration& item : concentrations_) {
    item.weight = item.log_evidence;
    for (const float images : filled) item.weight += std::lgamma(item.value + images);
    most = std::max(most, item.weight);
  }
  double sum = 0;
  for (Concentration& item : concentrations_) sum += item.weight = std::exp(item.weight - most);
  for (Concentration& item : concentrations_) item.weight /= sum;
}

/// Computes E[log share_c] = digamma(a + r_c) - digamma(n a + u), over the concentrations a.
void SharePrior::expect(const std::vector<float>& filled, std::vector<float>& log_share) {
  weigh(filled);
  for (size_t c = 0; c < filled.size(); ++c) {
    double expected = 0;
    for (const Concentration& concentration : concentrations_)
      expected += concentration.weight * (digamma(concentration.value + filled[c]) - concentration.digamma_total);
    log_share[c] = static_cast<float>(expected);
  }
}

}  // namespace protocom
