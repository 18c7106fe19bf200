#include "fewshot/toolbox/detail/information_descent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

namespace protocom {
namespace {

constexpr int64_t kSlopeClasses = 3;
constexpr int64_t kSlopeSupports = 4;  // the last without a label, as where a class has fewer supports than others
constexpr int64_t kSlopePoints = 21;

using LogitTable = std::vector<std::vector<double>>;  // [class][point]

double entropy_of(const std::vector<double>& p, double alpha) {
  double sum = 0;
  for (const double x : p) sum += alpha == 1 ? -x * std::log(x) : std::pow(x, alpha);
  return alpha == 1 ? sum : (1 - sum) / (alpha - 1);
}

/// Returns the loss by its definition, in double precision: supports 0, 1, 2 are of classes 0, 1, 2.
double loss_of(const InformationLoss& loss, const LogitTable& logits) {
  std::vector<double> mean(kSlopeClasses);
  double total = 0;
  for (int64_t i = 0; i < kSlopePoints; ++i) {
    std::vector<double> p;
    double sum = 0;
    for (const auto& row : logits) sum += std::exp(row[static_cast<size_t>(i)]);
    for (const auto& row : logits) p.push_back(std::exp(row[static_cast<size_t>(i)]) / sum);
    if (i < kSlopeClasses) total -= loss.cross_entropy * std::log(p[static_cast<size_t>(i)]) / kSlopeClasses;
    if (i < kSlopeSupports) continue;
    constexpr double kOpen = kSlopePoints - kSlopeSupports;
    total += loss.conditional * entropy_of(p, loss.alpha) / kOpen;
    for (size_t k = 0; k < mean.size(); ++k) mean[k] += p[k] / kOpen;
  }
  return total - loss.marginal * entropy_of(mean, loss.alpha);
}

TEST(InformationSlopes, AreTheLossesDifferencesInTheLogits) {
  FloatMatrix labels = FloatMatrix::Zero(kSlopeClasses, kSlopeSupports);
  for (int64_t k = 0; k < kSlopeClasses; ++k) labels(k, k) = 1;
  for (const double alpha : {1.0, 2.0, 5.0, 0.5}) {
    const InformationLoss loss{4, 0.7, 1.3, 0.4, alpha};
    Rng rng(5);
    FloatMatrix slopes(kSlopeClasses, kSlopePoints);
    LogitTable logits(kSlopeClasses, std::vector<double>(kSlopePoints));
    for (size_t k = 0; k < logits.size(); ++k) {
      for (size_t i = 0; i < logits[k].size(); ++i) {
        float& logit = slopes(static_cast<int64_t>(k), static_cast<int64_t>(i));
        logit = static_cast<float>(2.4 * rng.normal());
        logits[k][i] = static_cast<double>(logit);
      }
    }
    information_slopes(loss, labels, slopes);
    for (size_t k = 0; k < logits.size(); ++k) {
      for (size_t i = 0; i < logits[k].size(); ++i) {
        constexpr double kDifference = 1e-5;
        LogitTable above = logits, below = logits;
        above[k][i] += kDifference;
        below[k][i] -= kDifference;
        EXPECT_NEAR(slopes(static_cast<int64_t>(k), static_cast<int64_t>(i)),
                    (loss_of(loss, above) - loss_of(loss, below)) / (2 * kDifference), 2e-6)
            << alpha << " " << k << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace protocom
