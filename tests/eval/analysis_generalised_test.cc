#include "eval/analysis_generalised.h"

#include <gtest/gtest.h>

#include "support/toy_features.h"
#include "support/toy_plda.h"

namespace protocom {
namespace {

using testing::fitted_plda;
using testing::toy_world;
using testing::ToyWorld;

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
  for (const GeneralisedResult& one : results) EXPECT_GT(one.accuracy.base.value, 5) << one.method;  // of 103 classes
}

// For one episode the interval is 0 and the harmonic mean is that of its two accuracies; over several it is the mean of
// the episodes' harmonic means, which lies below that of the means.
TEST(Generalised, TakesTheHarmonicMeanEpisodeByEpisode) {
  const ToyWorld world = toy_world();
  GeneralisedOptions options;
  options.episodes.shape.n_way = 3;
  options.episodes.shape.n_query = 10;
  options.shots = {5};
  options.base_shots = 15;
  const auto run = [&](int64_t count) {
    options.episodes.count = count;
    return analyse_generalised({world.features}, {make_method("mean")}, options, Progress::none()).front().accuracy;
  };
  const auto of = [](double a, double b) { return 2 * a * b / (a + b); };
  const GeneralisedAccuracy one = run(1);
  ASSERT_GT(one.novel.value, 0);
  ASSERT_GT(one.base.value, 0);
  EXPECT_NEAR(one.harmonic.value, of(one.novel.value, one.base.value), 1e-9);
  const GeneralisedAccuracy many = run(10);
  EXPECT_LT(many.harmonic.value, of(many.novel.value, many.base.value) - 1e-6);
  EXPECT_GT(many.harmonic.value, 0);
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
