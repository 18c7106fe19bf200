#include "fewshot/toolbox/detail/information_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/rng.h"
#include "fewshot/row_kernels.h"
#include "fewshot/vector_form.h"
#include "support/vector_forms.h"

namespace protocom {
namespace {

constexpr int64_t kSlopeClasses = 3;
constexpr int64_t kSlopeSupports = 4;  // the last without a label, as where a class has fewer supports than others
constexpr int64_t kSlopePoints = 21;
constexpr int64_t kSlopeStride = padded_length(kSlopePoints);

using LogitTable = std::vector<std::vector<double>>;  // [class][point]

double entropy_of(const std::vector<double>& p, double alpha) {
  double sum = 0;
  for (const double x : p) sum += alpha == 1 ? -x * std::log(x) : std::pow(x, alpha);
  return alpha == 1 ? sum : (1 - sum) / (alpha - 1);
}

/// The loss as its definition says, in double precision: supports 0, 1, 2 are of classes 0, 1, 2.
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

class InformationSlopes : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { use_vector_form(GetParam()); }

  const testing::VectorFormKept kept_;
};

TEST_P(InformationSlopes, AreTheLossesDifferencesInTheLogits) {
  std::vector<float> labels(kSlopeClasses * kSlopeStride), shares(kSlopeStride), open(kSlopeStride);
  for (int64_t k = 0; k < kSlopeClasses; ++k) {
    labels[static_cast<size_t>(k * kSlopeStride + k)] = 1;
    shares[static_cast<size_t>(k)] = 0.7F / kSlopeClasses;
  }
  for (int64_t i = kSlopeSupports; i < kSlopePoints; ++i)
    open[static_cast<size_t>(i)] = 1.0F / (kSlopePoints - kSlopeSupports);
  std::vector<float> work((kSlopeClasses + 1) * kSlopeStride + (kRowMultiple + 1) * kSlopeClasses);
  const InformationPoints points{labels.data(), shares.data(), open.data(), kSlopeClasses, kSlopeStride, work.data()};
  for (const double alpha : {1.0, 2.0, 5.0, 0.5}) {
    const InformationLoss loss{4, 0.7, 1.3, 0.4, alpha};
    Rng rng(5);
    const std::vector<float> half_squares = {0.1F, 0.3F, 0.2F};
    std::vector<float> products(kSlopeClasses * kSlopeStride);
    LogitTable logits(kSlopeClasses, std::vector<double>(kSlopePoints));
    for (size_t k = 0; k < logits.size(); ++k) {
      for (size_t i = 0; i < logits[k].size(); ++i) {
        float& product = products[k * kSlopeStride + i];
        product = static_cast<float>(0.6 * rng.normal());
        logits[k][i] = 4 * (static_cast<double>(product) - static_cast<double>(half_squares[k]));
      }
    }
    information_slopes(points, loss, half_squares.data(), products.data());
    for (size_t k = 0; k < logits.size(); ++k) {
      for (size_t i = 0; i < logits[k].size(); ++i) {
        constexpr double kDifference = 1e-5;
        LogitTable above = logits, below = logits;
        above[k][i] += kDifference;
        below[k][i] -= kDifference;
        EXPECT_NEAR(products[k * kSlopeStride + i], (loss_of(loss, above) - loss_of(loss, below)) / (2 * kDifference),
                    2e-6)
            << alpha << " " << k << " " << i;
      }
      for (size_t i = kSlopePoints; i < kSlopeStride; ++i) EXPECT_EQ(products[k * kSlopeStride + i], 0.0F);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfThisProcessor, InformationSlopes, ::testing::ValuesIn(vector_form_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace protocom
