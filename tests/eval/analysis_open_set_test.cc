#include "eval/analysis_open_set.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "support/toy_features.h"
#include "support/toy_plda.h"

namespace protocom {
namespace {

using testing::fitted_plda;
using testing::toy_world;
using testing::ToyWorld;

TEST(AreaUnderCurve, IsTheChanceOfAPairInTheRightOrder) {
  // Pairs in the right order: 3 > 2, 3 > 1, 2 > 1; 2 and 2 tie. (3 + 0.5) of 4.
  EXPECT_DOUBLE_EQ(area_under_curve({3, 2}, {2, 1}, 1).value, 3.5 / 4);
  EXPECT_DOUBLE_EQ(area_under_curve({1, 1}, {1}, 1).value, 0.5);
  EXPECT_DOUBLE_EQ(area_under_curve({0}, {1, 2}, 1).value, 0);
  EXPECT_THROW(area_under_curve({}, {1}, 1), Error);
}

// Two tasks of one score each: 3 is above both others; 1 is above none and equals none: area 0.5. The others, 2 and
// 2, are each below one of the two. By tasks: 1 + 0.5 - 0.5 and 0 + 0.5 - 0.5, mean 0.5, variance 0.5.
TEST(AreaUnderCurve, HasAnIntervalOverTasks) {
  const Estimate area = area_under_curve({3, 1}, {2, 2}, 2);
  EXPECT_DOUBLE_EQ(area.value, 0.5);
  EXPECT_NEAR(area.ci95, 1.96 * std::sqrt(0.5 / 2), 1e-12);
}

TEST(AcceptedAtRecall, CountsTheOthersAboveTheThresholdThatKeepsSoManyOfTheGiven) {
  std::vector<double> given;
  for (int i = 1; i <= 20; ++i) given.push_back(i);  // 95 % of them are 2 and above
  EXPECT_DOUBLE_EQ(accepted_at_recall(given, {0, 1, 2, 30}, 0.95), 0.5);
  EXPECT_DOUBLE_EQ(accepted_at_recall(given, {1.5, 1}, 0.95), 0);
}

TEST(OpenSet, DetectsUnknownImagesBetterThanChanceAndGivesAccuracyOfKnownClasses) {
  const ToyWorld world = toy_world();
  const EvaluateInputs inputs{world.features, nullptr, nullptr, &world.knowledge};
  OpenSetOptions options;
  options.episodes.shape.n_way = 3;
  options.episodes.shape.n_query = 5;
  options.episodes.count = 20;
  options.shots = {5};
  options.others = 2;
  const Methods methods = {make_method("mean"), fitted_plda(world)};
  const auto results = analyse_open_set(inputs, methods, options, Progress::none());
  ASSERT_EQ(results.size(), 2U);
  EXPECT_FALSE(results[0].knows_none);
  EXPECT_TRUE(results[1].knows_none);
  for (const OpenSetResult& one : results) {
    EXPECT_GT(one.area - one.area_ci95, 0.5) << one.method;
    EXPECT_GT(one.accuracy.value, 60) << one.method;
    // If scores were uninformative, 95 % of the others would pass with the given ones.
    EXPECT_LT(one.false_accept, 95.0) << one.method;
    EXPECT_GT(one.false_accept, 0.0) << one.method;
  }
  options.shots = {0, 5};
  const auto from_none = analyse_open_set(inputs, methods, options, Progress::none());
  ASSERT_EQ(from_none.size(), 3U) << "without an image the mean has no point";
  EXPECT_EQ(from_none[0].method, "plda");
  EXPECT_DOUBLE_EQ(from_none[1].area, results[0].area);
  options.others = 0;
  EXPECT_THROW(analyse_open_set(inputs, methods, options, Progress::none()), UsageError);
}

TEST(Evaluate, TellsClassesApartByTheirDescriptionsWhenThereIsNoImage) {
  const ToyWorld world = toy_world();
  const EpisodeList list = sample_episodes(world.features, {Split::kNovel, {4, 0, 10}, 40, 3});
  const EvaluateInputs inputs{world.features, nullptr, nullptr, &world.knowledge};
  ScoringOptions options;
  options.methods = {fitted_plda(world)};
  const auto scores = evaluate(inputs, list, options, Progress::none());
  EXPECT_GT(estimate(scores[0].accuracy).value, 50);  // chance is 25
  options.methods = {make_method("mean")};
  EXPECT_THROW(evaluate(inputs, list, options, Progress::none()), UsageError);
}

TEST(Evaluate, TellsAMethodTheSharesOfTheClassesIfItAsks) {
  const ToyWorld world = toy_world();
  EpisodeShape shape{4, 1, 10};
  shape.query_distribution = QueryDistribution::kDirichlet;
  shape.alpha = 0.2;
  const EpisodeList list = sample_episodes(world.features, {Split::kNovel, shape, 40, 3});
  const EvaluateInputs inputs{world.features, nullptr, nullptr, &world.knowledge};
  ScoringOptions options;
  options.methods.clear();
  const auto state = fitted_plda(world)->state();
  for (const char* text : {"plda-vb:proportions=given", "plda-vb:proportions=balanced"}) {
    std::shared_ptr<Method> method = make_method(text);
    method->load(state);
    options.methods.push_back(method);
  }
  const auto scores = evaluate(inputs, list, options, Progress::none());
  EXPECT_GT(paired_difference(scores[0].accuracy, scores[1].accuracy).value, 5);
}

}  // namespace
}  // namespace protocom
