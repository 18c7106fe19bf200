#include "protocom/eval/analysis_open_set.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "protocom/core/error.h"
#include "protocom/eval/analysis_generalised.h"
#include "support/toy_features.h"

namespace protocom {
namespace {

using testing::toy_world;
using testing::ToyWorld;

TEST(AreaUnderCurve, IsTheChanceOfAPairInTheRightOrder) {
  // Pairs in the right order: 3 > 2, 3 > 1, 2 > 1; 2 and 2 tie. (3 + 0.5) of 4.
  EXPECT_DOUBLE_EQ(area_under_curve({3, 2}, {2, 1}), 3.5 / 4);
  EXPECT_DOUBLE_EQ(area_under_curve({1, 1}, {1}), 0.5);
  EXPECT_DOUBLE_EQ(area_under_curve({0}, {1, 2}), 0);
  EXPECT_THROW(area_under_curve({}, {1}), Error);
}

TEST(AcceptedAtRecall, CountsTheOthersAboveTheThresholdThatKeepsSoManyOfTheGiven) {
  std::vector<double> given;
  for (int i = 1; i <= 20; ++i) given.push_back(i);  // 95 % of them are 2 and above
  EXPECT_DOUBLE_EQ(accepted_at_recall(given, {0, 1, 2, 30}, 0.95), 0.5);
  EXPECT_DOUBLE_EQ(accepted_at_recall(given, {1.5, 1}, 0.95), 0);
}

std::shared_ptr<Method> fitted_plda(const ToyWorld& world) {
  std::shared_ptr<Method> method = make_method("plda");
  std::vector<int64_t> rows;
  const auto labels = world.features.labels.accessor<int64_t, 1>();
  for (int64_t i = 0; i < labels.size(0); ++i) {
    if (world.features.class_split[static_cast<size_t>(labels[i])] == Split::kBase) rows.push_back(i);
  }
  const at::Tensor base = at::tensor(rows, at::kLong);
  method->fit({{world.features.features.index_select(0, base), world.features.labels.index_select(0, base)},
               {},
               &world.knowledge,
               &world.features.class_names});
  return method;
}

TEST(OpenSet, TellsStrangersApartBetterThanChanceAndGivesTheAccuracyOfTheGivenClasses) {
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
    EXPECT_GT(one.area, 0.5) << one.method;
    EXPECT_GT(one.accuracy.value, 60) << one.method;
    EXPECT_LE(one.false_accept, 100.0);
  }
  options.others = 0;
  EXPECT_THROW(analyse_open_set(inputs, methods, options, Progress::none()), UsageError);
}

TEST(Evaluate, TellsClassesApartByTheirDescriptionsWhenThereIsNoImage) {
  const ToyWorld world = toy_world();
  const EpisodeList list = sample_episodes(world.features, {Split::kNovel, {4, 0, 10}, 40, 3});
  const EvaluateInputs inputs{world.features, nullptr, nullptr, &world.knowledge};
  EvaluateOptions options;
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
  EvaluateOptions options;
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

TEST(Generalised, LeavesOutMethodsThatNeedAnImageAndFindsTheHarmonicMeanBetweenTheTwo) {
  const ToyWorld world = toy_world();
  const EvaluateInputs inputs{world.features, nullptr, nullptr, &world.knowledge};
  GeneralisedOptions options;
  options.episodes.shape.n_way = 3;
  options.episodes.shape.n_query = 3;
  options.episodes.count = 10;
  options.shots = {0, 5};
  options.base_shots = 5;
  const auto results =
      analyse_generalised(inputs, {make_method("mean"), fitted_plda(world)}, options, Progress::none());
  ASSERT_EQ(results.size(), 3U);  // plda with none, both with five
  EXPECT_EQ(results[0].method, "plda");
  EXPECT_EQ(results[0].shots, 0);
  for (const GeneralisedResult& one : results) {
    EXPECT_LE(one.accuracy.harmonic.value, std::max(one.accuracy.novel.value, one.accuracy.base.value) + 1e-9);
    EXPECT_GT(one.accuracy.base.value, 5) << one.method;  // of 103 classes
  }
}

TEST(Generalised, AnOffsetChosenOnValClassesMovesQueriesFromBaseToNovelClasses) {
  const ToyWorld world = toy_world();
  const EvaluateInputs inputs{world.features, nullptr, nullptr, &world.knowledge};
  GeneralisedOptions options;
  options.episodes.shape.n_way = 3;
  options.episodes.shape.n_query = 5;
  options.episodes.count = 60;
  options.shots = {1};
  options.base_shots = 10;
  const auto results = analyse_generalised(inputs, {make_method("mean")}, options, Progress::none());
  ASSERT_EQ(results.size(), 1U);
  ASSERT_TRUE(results[0].corrected);
  // One image is a worse prototype than ten: without an offset the base classes win too often.
  EXPECT_GT(results[0].corrected->offset, 0);
  EXPECT_GT(results[0].corrected->accuracy.novel.value, results[0].accuracy.novel.value);
  EXPECT_LE(results[0].corrected->accuracy.base.value, results[0].accuracy.base.value);
  EXPECT_GT(results[0].corrected->accuracy.harmonic.value, results[0].accuracy.harmonic.value);
  EXPECT_TRUE(nlohmann::json(results[0]).contains("corrected"));
}

TEST(Generalised, HasNoOffsetWhereTheValClassesAreWhatIsMeasured) {
  const ToyWorld world = toy_world();
  const EvaluateInputs inputs{world.features, nullptr, nullptr, &world.knowledge};
  GeneralisedOptions options;
  options.episodes.split = Split::kVal;
  options.episodes.shape.n_way = 2;
  options.episodes.shape.n_query = 3;
  options.episodes.count = 5;
  options.shots = {1};
  options.base_shots = 5;
  const auto results = analyse_generalised(inputs, {make_method("mean")}, options, Progress::none());
  ASSERT_EQ(results.size(), 1U);
  EXPECT_FALSE(results[0].corrected);
  EXPECT_FALSE(nlohmann::json(results[0]).contains("corrected"));
}

}  // namespace
}  // namespace protocom
