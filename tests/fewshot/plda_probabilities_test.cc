#include "fewshot/plda_probabilities.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/plda_world.h"

namespace protocom {
namespace {

using testing::plda_world;
using testing::PldaWorldOptions;

TEST(ByShots, IsLinearInKOverKPlusOneBetweenNoneOneAndFive) {
  const ByShots values{4, 2, 8};
  EXPECT_DOUBLE_EQ(values.at(0), 4);
  EXPECT_DOUBLE_EQ(values.at(1), 2);
  EXPECT_DOUBLE_EQ(values.at(5), 8);
  EXPECT_DOUBLE_EQ(values.at(2), 5) << "2/3 is half way from 1/2 to 5/6";
  EXPECT_NEAR(values.at(0.5), 4 - 2 * 2.0 / 3, 1e-12) << "1/3 is two thirds of the way from 0 to 1/2";
  EXPECT_DOUBLE_EQ(values.at(100), 8);
}

TEST(BestScale, FindsTheSharpnessThatLabelsWereDrawnWith) {
  at::manual_seed(2);
  const at::Tensor scores = 4 * at::randn({20, 500, 5});
  PldaTasks tasks;
  tasks.labels = (0.3 * scores).softmax(-1).view({10000, 5}).multinomial(1).view({20, 500});
  const ScaleTrial found = best_scale({tasks}, [&](const PldaTasks&) { return scores; });
  EXPECT_NEAR(found.scale, 0.3, 0.02);
  const at::Tensor truth = (0.3 * scores).log_softmax(-1).gather(-1, tasks.labels.unsqueeze(-1));
  EXPECT_NEAR(found.loss, -truth.mean().item<double>(), 0.005);
}

TEST(LogisticRegression, FindsTheCoefficientsAgain) {
  at::manual_seed(4);
  const at::Tensor x = 30 + 2 * at::randn({20000}, at::kDouble);
  const at::Tensor is = at::rand({20000}, at::kDouble).lt((1.7 * x - 50).sigmoid()).to(at::kDouble);
  const auto [slope, offset] = logistic_regression(x, is);
  EXPECT_NEAR(slope, 1.7, 0.1);
  EXPECT_NEAR(offset / slope, -50 / 1.7, 0.1);
}

TEST(LogisticRegression, HasAnAnswerWhereSamplesCanBeSeparatedAndWhereAllAreTheSame) {
  const auto [slope, offset] =
      logistic_regression(at::tensor({0.0, 1.0, 2.0, 3.0}, at::kDouble), at::tensor({0.0, 0.0, 1.0, 1.0}, at::kDouble));
  EXPECT_TRUE(std::isfinite(slope));
  EXPECT_GT(slope, 0);
  EXPECT_NEAR(offset / slope, -1.5, 1e-6);
  EXPECT_TRUE(std::isfinite(logistic_regression(at::ones({4}, at::kDouble), at::ones({4}, at::kDouble)).second));
}

/// By how much confidence in 15 bins differs from the share that is right.
double calibration_error(const at::Tensor& probability, const at::Tensor& right) {
  double error = 0;
  for (int bin = 0; bin < 15; ++bin) {
    const at::Tensor here = probability.gt(bin / 15.0).logical_and(probability.le((bin + 1) / 15.0)).to(at::kDouble);
    error += std::abs(((probability - right) * here).sum().item<double>());
  }
  return error / static_cast<double>(probability.numel());
}

TEST(SetProbabilities, AreRightForClassesThatAreDrawnFromTheModel) {
  PldaModel model;
  set_probabilities({plda_world({100, 60})}, {false, {200, 1}}, model);
  EXPECT_NEAR(model.inductive_scale.one, 1, 0.12);
  EXPECT_NEAR(model.inductive_scale.five, 1, 0.12);
  const HeldOutClasses others = plda_world({100, 60}, 18);
  for (const int64_t k_shot : {1, 5}) {
    Rng rng(8);
    const PldaTasks tasks = draw_tasks(others, {200, k_shot}, rng);
    const at::Tensor scores = inductive_scores(model.volume)(tasks);
    const auto [sure, answer] = (model.inductive_scale.at(static_cast<double>(k_shot)) * scores).softmax(-1).max(-1);
    EXPECT_LT(100 * calibration_error(sure.to(at::kDouble), answer.eq(tasks.labels).to(at::kDouble)), 2) << k_shot;
    const PldaTasks half = with_others(draw_tasks(others, {200, k_shot, TaskQueries::kBalanced, 10}, rng), 5);
    const at::Tensor none = row_log_predictive(others.nothing, half.queries, half.layout, model.volume).squeeze(-1);
    const at::Tensor ratio = std::get<0>(inductive_scores(model.volume)(half).max(-1)) - none;
    const auto shots = static_cast<double>(k_shot);
    const at::Tensor known = (model.known_slope.at(shots) * ratio + model.known_offset.at(shots)).sigmoid();
    EXPECT_LT(100 * calibration_error(known.to(at::kDouble), half.labels.lt(5).to(at::kDouble)), 2.5) << k_shot;
  }
}

TEST(SetProbabilities, LeaveTheDefaultsWhereThereIsOneImageAClassAndWhereNoClassCanBeLeftOut) {
  PldaModel model;
  set_probabilities({plda_world({8, 1})}, {}, model);
  EXPECT_EQ(model.inductive_scale.one, 1);
  set_probabilities({plda_world({3, 20})}, {}, model);
  EXPECT_NE(model.inductive_scale.one, 1);
  EXPECT_EQ(model.known_slope.one, 1);
  EXPECT_EQ(model.known_offset.one, 0);
}

/// The share of queries that go to classes of one image, where each of five classes has one or five, over the fair one.
double share_of_small_classes(const HeldOutClasses& world, double volume) {
  Rng rng(9);
  PldaTasks tasks = draw_tasks(world, {200, 5, TaskQueries::kBalanced, 5, 1}, rng);
  const at::Tensor answer = inductive_scores(volume)(tasks).argmax(-1);  // [b, q]
  const at::Tensor small = tasks.count.eq(1);                            // [b, n]
  const double got = small.gather(1, answer).to(at::kDouble).mean().item<double>();
  return got / small.to(at::kDouble).mean().item<double>();
}

TEST(Volume, IsWholeForClassesThatAreDrawnFromTheModel) {
  const std::vector<VolumeTrial> trials = try_volumes({plda_world({100, 60})}, {150, 1});
  ASSERT_EQ(trials.size(), 10U);
  EXPECT_GE(trials.front().volume, 0.7);
  EXPECT_LE(trials.front().volume, 1.4);
  EXPECT_LE(trials[0].loss, trials[1].loss);
}

// Variances that are overstated make the class of many images draw in those of others.
TEST(Volume, IsLessWhereVariancesAreOverstatedAndGivesAClassOfOneImageItsShare) {
  PldaWorldOptions overstated;
  overstated.classes = 60;
  overstated.between = 0.05;
  overstated.within = 0.2;
  overstated.stated_between = 1;
  overstated.dims = 64;
  const HeldOutClasses world = plda_world(overstated);
  const double volume = try_volumes({world}, {100, 1}).front().volume;
  EXPECT_LT(volume, 0.5);
  EXPECT_LT(share_of_small_classes(world, 1), 0.3);
  EXPECT_GT(share_of_small_classes(world, volume), 0.7);
  EXPECT_LT(share_of_small_classes(world, volume), 1.3);
}

TEST(Volume, HasNothingToChooseWhereNoClassCanHaveMoreImagesThanAnother) {
  EXPECT_TRUE(try_volumes({plda_world({8, 3})}, {}).empty());
}

}  // namespace
}  // namespace protocom
