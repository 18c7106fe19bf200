#include "eval/evaluation_tasks.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.h"
#include "support/toy_features.h"

namespace protocom {
namespace {

TEST(WithShots, TakesANumberOrARange) {
  const EpisodeShape shape{5, 9, 7};
  EXPECT_EQ(with_shots(shape, "3").k_shot, 3);
  EXPECT_FALSE(with_shots(shape, "3").ragged());
  const EpisodeShape ragged = with_shots(shape, "1-4");
  EXPECT_EQ(ragged.k_shot, 1);
  EXPECT_EQ(ragged.most_shots, 4);
  EXPECT_EQ(ragged.n_query, 7);
  for (const char* wrong : {"", "one", "1-", "-1", "1-4-5", "1.5"}) EXPECT_THROW(with_shots(shape, wrong), UsageError);
}

TEST(Tasks, AreOnePerNumberOfShotsWithOneListPerSeed) {
  TaskOptions options;
  options.shape = {3, 1, 2};
  options.shots = {"1", "2"};
  options.seeds = {4, 5, 6};
  options.episodes = 7;
  const testing::ToyWorld world = testing::toy_world();
  const std::vector<EvaluationTask> tasks = draw_tasks(world.features, options);
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[1].shape.k_shot, 2);
  ASSERT_EQ(tasks[1].lists.size(), 3U);
  EXPECT_EQ(tasks[1].lists[2].seed, 6U);
  EXPECT_EQ(tasks[1].lists[2].episodes.size(), 7U);
  options.seeds = {};
  EXPECT_THROW(draw_tasks(world.features, options), UsageError);
}

TEST(Tasks, AreWrittenWithTheirEpisodesResultsAndDifferences) {
  TaskOptions shapes;
  shapes.shape = {3, 1, 4};
  shapes.shots = {"1", "3"};
  shapes.episodes = 20;
  const testing::ToyWorld world = testing::toy_world();
  std::vector<EvaluationTask> tasks = draw_tasks(world.features, shapes);
  ScoringOptions options;
  options.methods = make_methods({"mean", "baseline-pp"});
  const TaskRecords records = evaluate_tasks({world.features}, tasks, options, Progress::none());
  EXPECT_TRUE(records.predictions_csv.empty()) << "not requested";
  const auto found = findings_json(world.features, tasks, {{"baseline-pp", "mean"}}, records.checks);
  ASSERT_EQ(found["results"].size(), 4U);
  EXPECT_EQ(found["results"][2]["method"], "mean");
  EXPECT_EQ(found["results"][2]["k_shot"], 3);
  EXPECT_DOUBLE_EQ(found["results"][2]["accuracy"].get<double>(),
                   estimate(tasks[1].scores[0].methods[0].accuracy).value);
  ASSERT_EQ(found["differences"].size(), 2U);
  EXPECT_NEAR(found["differences"][1]["difference"].get<double>(),
              found["results"][3]["accuracy"].get<double>() - found["results"][2]["accuracy"].get<double>(), 1e-9);
  ASSERT_EQ(found["episode_lists"].size(), 2U);
  EXPECT_EQ(found["episodes_hash"],
            tasks[0].lists[0].hash(world.features) + " " + tasks[1].lists[0].hash(world.features));
}

TEST(Tasks, KeepPredictionsAsTextAlone) {
  TaskOptions shapes;
  shapes.shape = {3, 1, 4};
  shapes.shots = {"1"};
  shapes.episodes = 2;
  const testing::ToyWorld world = testing::toy_world();
  std::vector<EvaluationTask> tasks = draw_tasks(world.features, shapes);
  ScoringOptions options;
  options.methods = make_methods({"mean"});
  options.predictions = KeepPredictions::kYes;
  const TaskRecords records = evaluate_tasks({world.features}, tasks, options, Progress::none());
  EXPECT_EQ(std::count(records.predictions_csv.begin(), records.predictions_csv.end(), '\n'), 1 + 2 * 12);
  EXPECT_TRUE(tasks[0].scores[0].methods[0].predictions.empty());
}

}  // namespace
}  // namespace protocom
