#include "fewshot/plda/detail/known.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/matrices.h"

namespace protocom {
namespace {

double ratio_of(const std::vector<double>& scores, double none, double scale) {
  const DoubleMatrix row = Eigen::Map<const Eigen::RowVectorXd>(scores.data(), static_cast<int64_t>(scores.size()));
  return known_ratio(row, DoubleVector::Constant(1, none), scale)[0];
}

TEST(KnownRatio, IsTheMeanOfTheClassesTemperedLikelihoods) {
  const double mean = (std::exp(0.5 * -3) + std::exp(0.5 * -5) + std::exp(0.5 * -4)) / 3;
  EXPECT_NEAR(ratio_of({-3, -5, -4}, -7, 0.5), std::log(mean) / 0.5 + 7, 1e-5);
  EXPECT_NEAR(ratio_of({-3}, -7, 0.5), 4, 1e-5) << "of one class it is the likelihood ratio";
}

TEST(KnownRatio, DoesNotGrowWithTheNumberOfClassesThatAreAllAlike) {
  for (const size_t classes : {1U, 5U, 200U})
    EXPECT_NEAR(ratio_of(std::vector<double>(classes, -2), -6, 0.3), 4, 1e-4) << classes;
}

TEST(KnownRatio, IsFiniteWhereLikelihoodsAreNoFloats) {
  EXPECT_NEAR(ratio_of({-20000, -30000}, -25000, 1), 5000 - std::log(2), 1e-2);
}

/// Ratios, and whether each is of a known class, with the probability `truth`.
struct Judged {
  explicit Judged(const KnownChance& truth) {
    at::manual_seed(4);
    const at::Tensor drawn = 30 + 2 * at::randn({40000}, at::kDouble);
    const at::Tensor chance = (1 + truth.alike + (-(truth.slope * drawn + truth.offset)).exp()).reciprocal();
    ratio = vector_of(drawn);
    is = vector_of(at::rand({40000}, at::kDouble).lt(chance));
  }
  DoubleVector ratio, is;
};

TEST(FitKnownChance, FindsTheCoefficientsAgain) {
  const Judged plain({1.7, -50, 0});
  const KnownChance found = fit_known_chance(plain.ratio, plain.is);
  EXPECT_NEAR(found.slope, 1.7, 0.1);
  EXPECT_NEAR(found.offset / found.slope, -50 / 1.7, 0.1);
  EXPECT_LT(found.alike, 0.03);
  const Judged alike({2, -58, 0.3});
  const KnownChance other = fit_known_chance(alike.ratio, alike.is);
  EXPECT_NEAR(other.slope, 2, 0.15);
  EXPECT_NEAR(other.offset / other.slope, -29, 0.1);
  EXPECT_NEAR(other.alike, 0.3, 0.06);
}

TEST(FitKnownChance, HasAnAnswerWhereSamplesCanBeSeparatedAndWhereAllAreTheSame) {
  const KnownChance found = fit_known_chance(Eigen::Vector4d(0, 1, 2, 3), Eigen::Vector4d(0, 0, 1, 1));
  EXPECT_TRUE(std::isfinite(found.slope));
  EXPECT_GT(found.slope, 0);
  EXPECT_NEAR(found.offset / found.slope, -1.5, 1e-6);
  EXPECT_EQ(found.alike, 0);
  EXPECT_TRUE(std::isfinite(fit_known_chance(DoubleVector::Ones(4), DoubleVector::Ones(4)).offset));
}

TEST(FitKnownChance, StaysFiniteBesideAnImageThatIsFarFromAll) {
  DoubleVector ratio = vector_of(at::arange(4000).remainder(7));
  ratio[0] = -1e9;
  const KnownChance found = fit_known_chance(ratio, (ratio.array() > 3).cast<double>());
  EXPECT_TRUE(std::isfinite(found.slope) && std::isfinite(found.offset));
}

TEST(LogOddsOfNone, AreBoundedBelowByTheShareOfSimilarClasses) {
  const auto odds = [](double ratio, double alike) { return log_odds_of_none(ratio, {0.5, -1, alike}); };
  EXPECT_NEAR(odds(3, 0), -0.5, 1e-6);
  EXPECT_NEAR(odds(3, 0.2), std::log(0.2 + std::exp(-0.5)), 1e-6);
  EXPECT_NEAR(odds(1000, 0.2), std::log(0.2), 1e-6);
  EXPECT_NEAR(odds(-1000, 0.2), 501, 1e-3);
}

}  // namespace
}  // namespace protocom
