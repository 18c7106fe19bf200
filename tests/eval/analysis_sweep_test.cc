#include "eval/analysis_sweep.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "eval/analysis_base_classes.h"
#include "eval/analysis_noise.h"
#include "eval/fit.h"
#include "fewshot/align_knowledge.h"
#include "support/sweep_world.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;
using testing::Sweep;

SeriesPoint point(double x, double accuracy) { return {x, "m", "inductive", {accuracy, 0.0}, {0.0, 0.0}, 0.0}; }

// a - b is 4 at 1 and -2 at 2: it vanishes after two thirds of the way.
TEST(Crossing, IsWhereTheLinesMeet) {
  const auto where = crossing({point(1, 60), point(2, 61), point(3, 70)}, {point(1, 56), point(2, 63), point(3, 75)});
  ASSERT_TRUE(where.has_value());
  EXPECT_NEAR(*where, 1.0 + 4.0 / 6.0, 1e-12);
  EXPECT_NEAR(*crossing({point(1, 50), point(5, 70)}, {point(1, 60), point(5, 60)}), 3.0, 1e-12);  // from below
  EXPECT_FALSE(crossing({point(1, 60), point(2, 61)}, {point(1, 56), point(2, 57)}).has_value());
  EXPECT_THROW(crossing({point(1, 60)}, {}), Error);
}

TEST(Ways, GoFromFiveToAll) {
  EXPECT_THAT(ways_up_to(20), ElementsAre(5, 8, 11, 14, 17, 20));
  EXPECT_THAT(ways_up_to(6), ElementsAre(5, 6));
  EXPECT_THAT(ways_up_to(5), ElementsAre(5));
  EXPECT_THAT(ways_up_to(3), ElementsAre(3));
  EXPECT_EQ(ways_up_to(1000).back(), 1000);
  EXPECT_LE(ways_up_to(1000).size(), 7U);
}

TEST_F(Sweep, ByShotsHasTheAccuraciesOfEachEvaluation) {
  const auto points = accuracy_by_shots(inputs(), episodes_, {1, 3}, Progress::none());
  ASSERT_EQ(points.size(), 2U * paper_rows().size());
  EpisodeShape shape = episodes_.shape;
  shape.k_shot = 3;
  const auto completed = points_of(points, "completed");
  ASSERT_EQ(completed.size(), 2U);
  EXPECT_DOUBLE_EQ(completed[1].x, 3.0);
  EXPECT_DOUBLE_EQ(completed[1].accuracy.value, estimate(scores_of("completed", shape).accuracy).value);
  EXPECT_DOUBLE_EQ(points_of(points, "mean")[1].gain.value, 0.0);
  EXPECT_EQ(points_of(points, "gauss-fusion")[0].mode, "transductive");
}

TEST_F(Sweep, ByQueriesAndImbalanceHaveTheAccuraciesOfEachEvaluation) {
  const auto points = accuracy_by_queries(inputs(), episodes_, {0, 4}, Progress::none());
  EpisodeShape shape = episodes_.shape;
  shape.n_query = 4;
  EXPECT_DOUBLE_EQ(points[0].x, 1.0) << "a single query";
  EXPECT_DOUBLE_EQ(points.back().x, 20.0) << "all queries of an episode";
  EXPECT_DOUBLE_EQ(points_of(points, "gauss-fusion")[1].accuracy.value,
                   estimate(scores_of("gauss-fusion", shape).accuracy).value);
  const auto uneven = points_of(accuracy_by_imbalance(inputs(), episodes_, {0.5}, Progress::none()), "gauss-fusion");
  ASSERT_EQ(uneven.size(), 2U);
  EXPECT_DOUBLE_EQ(uneven[0].accuracy.value, estimate(scores_of("gauss-fusion", episodes_.shape).accuracy).value);
  shape = episodes_.shape;
  shape.query_distribution = QueryDistribution::kDirichlet;
  shape.alpha = 0.5;
  EXPECT_DOUBLE_EQ(uneven[1].x, 2.0);
  EXPECT_DOUBLE_EQ(uneven[1].accuracy.value, estimate(scores_of("gauss-fusion", shape).accuracy).value);
  EXPECT_THROW(accuracy_by_imbalance(inputs(), episodes_, {0.0}, Progress::none()), UsageError);
}

TEST_F(Sweep, ASingleQueryIsOfEachClassInTurn) {
  const EpisodeList list = episodes_with_queries(world_.features, episodes_, 0);
  for (size_t i = 0; i < list.episodes.size(); ++i) {
    for (size_t c = 0; c < 5; ++c) EXPECT_EQ(list.episodes[i].query[c].size(), c == i % 5 ? 1U : 0U);
  }
  // With one query each episode is right or wrong: steps of 100 / 30.
  const auto points = accuracy_by_queries(inputs(), episodes_, {0}, Progress::none());
  const double right = points.front().accuracy.value * 30 / 100;
  EXPECT_NEAR(right, std::round(right), 1e-9);
}

TEST_F(Sweep, GainsAreOverTheMethodThatTheBaselineMeans) {
  const std::vector<FittedMethod> fitted = {
      fit_method({world_.features, &world_.knowledge}, {"plda:prior=none"}, Progress::none())};
  const AnalysisInputs both{
      {world_.features, nullptr, nullptr, &world_.knowledge}, make_methods({"mean", "plda"}, fitted), "plda"};
  for (const auto& points : {accuracy_by_ways(both, episodes_, {5}, Progress::none()),
                             accuracy_by_noise(both, episodes_, {{0.0}, 1}, Progress::none())}) {
    EXPECT_DOUBLE_EQ(points_of(points, "plda:prior=none")[0].gain.value, 0.0);
    EXPECT_NE(points_of(points, "mean")[0].gain.value, 0.0);
  }
}

TEST_F(Sweep, ByShotsBeginsAtNoImageForMethodsThatNeedNone) {
  const std::vector<FittedMethod> fitted = {
      fit_method({world_.features, &world_.knowledge}, {"plda"}, Progress::none())};
  const AnalysisInputs both{{world_.features, nullptr, nullptr, &world_.knowledge},
                            make_methods({"mean", "plda", "plda:prior=none"}, fitted)};
  const auto points = accuracy_by_shots(both, episodes_, {0, 1}, Progress::none());
  EXPECT_EQ(points_of(points, "mean").size(), 1U);
  const auto known = points_of(points, "plda");
  ASSERT_EQ(known.size(), 2U);
  EXPECT_DOUBLE_EQ(known[0].gain.value, known[0].accuracy.value - 20.0);  // over chance
  EXPECT_GT(known[0].gain.value, 10.0);
  // Without knowledge and without an image all classes are alike: the first wins every query.
  EXPECT_DOUBLE_EQ(points_of(points, "plda:prior=none")[0].gain.value, 0.0);
  const auto unknowing = points_of(points, "plda:prior=none");
  EXPECT_NE(unknowing[1].accuracy.value, known[1].accuracy.value);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_NEAR(known[i].knowledge.value().value, known[i].accuracy.value - unknowing[i].accuracy.value, 1e-9);
  EXPECT_FALSE(unknowing[1].knowledge.has_value());
  EXPECT_FALSE(points_of(points, "mean")[0].knowledge.has_value());
  EXPECT_TRUE(nlohmann::json(known[0]).contains("knowledge"));
}

TEST_F(Sweep, ByBaseClassesFitsAgainOnTheSameEpisodes) {
  const auto base = static_cast<int64_t>(world_.features.classes_of(Split::kBase).size());
  const std::vector<FittedMethod> fitted = {
      fit_method({world_.features, &world_.knowledge}, {"plda"}, Progress::none())};
  const AnalysisInputs both{{world_.features, nullptr, nullptr, &world_.knowledge},
                            make_methods({"mean", "plda"}, fitted)};
  const auto points = accuracy_by_base_classes(both, {fitted, episodes_, {2, base}}, Progress::none());
  const auto mean = points_of(points, "mean");
  EXPECT_DOUBLE_EQ(mean[0].accuracy.value, mean[1].accuracy.value);
  const EpisodeList list = sample_episodes(world_.features, episodes_);
  ScoringOptions options;
  options.methods = both.methods;
  const auto whole = evaluate(both.data, list, options, Progress::none());
  const auto plda = points_of(points, "plda");
  EXPECT_DOUBLE_EQ(plda[1].accuracy.value, estimate(find_scores(whole, "plda")->accuracy).value);
  EXPECT_NE(plda[0].accuracy.value, plda[1].accuracy.value);
  EXPECT_THROW(accuracy_by_base_classes(both, {fitted, episodes_, {base + 1}}, Progress::none()), UsageError);
}

TEST_F(Sweep, ByWaysGetsHarderWithMoreClasses) {
  const auto mean = points_of(accuracy_by_ways(inputs(), episodes_, {2, 6}, Progress::none()), "mean");
  EXPECT_GT(mean[0].accuracy.value, mean[1].accuracy.value);
}

TEST_F(Sweep, ByUnlabelledBeginsWithTheMeanOfBothPrototypes) {
  const auto points = accuracy_by_unlabelled(inputs(), episodes_, {0, 1, 8}, Progress::none());
  const auto fused = points_of(points, "gauss-fusion");
  const auto half = points_of(points, "mean-fusion");
  EXPECT_DOUBLE_EQ(fused[0].accuracy.value, half[0].accuracy.value);
  EXPECT_EQ(fused[0].mode, "inductive");
  EXPECT_EQ(fused[2].mode, "semi-supervised");
  // Methods without unlabelled images are scored on the same queries at every point.
  for (const char* method : {"mean", "completed", "mean-fusion"})
    EXPECT_DOUBLE_EQ(points_of(points, method)[0].accuracy.value, points_of(points, method)[2].accuracy.value);
  EXPECT_THROW(accuracy_by_unlabelled(inputs(), episodes_, {40}, Progress::none()), Error);  // classes have 30 images
}

}  // namespace
}  // namespace protocom
