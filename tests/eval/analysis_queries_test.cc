#include "eval/analysis_queries.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;

Prediction prediction(int64_t episode, int64_t row, int64_t truth, int64_t predicted, float probability = 0.5F) {
  return {episode, row, truth, predicted, probability, 0.0F};
}

FeatureSet three_classes() {
  FeatureSet features;
  features.class_names = {"a", "b", "c"};
  features.class_split = {Split::kNovel, Split::kNovel, Split::kNovel};
  return features;
}

/// Returns episodes that contain the given classes and nothing else that matters.
EpisodeList episodes_of(const std::vector<std::vector<int64_t>>& classes) {
  EpisodeList list;
  for (const auto& one : classes) {
    Episode episode;
    episode.classes = one;
    list.episodes.push_back(episode);
  }
  return list;
}

// Bins of 0.25: 0.3 and 0.4 (one right) are in the second, 0.9 and 0.9 (both right) in the last. The gaps are
// |0.5 - 0.35| = 0.15 and |1 - 0.9| = 0.1, half of the queries each: 0.125. Mean confidence 0.625, accuracy 0.75.
TEST(Calibration, OfFourQueriesIsThatWorkedOutByHand) {
  const auto found = reliability_curve({prediction(0, 0, 0, 0, 0.3F), prediction(0, 1, 0, 1, 0.4F),
                                        prediction(0, 2, 1, 1, 0.9F), prediction(0, 3, 1, 1, 0.9F)},
                                       4);
  ASSERT_EQ(found.bins.size(), 2U);
  EXPECT_DOUBLE_EQ(found.bins[0].low, 0.25);
  EXPECT_DOUBLE_EQ(found.bins[0].high, 0.5);
  EXPECT_EQ(found.bins[0].count, 2);
  EXPECT_NEAR(found.bins[0].confidence, 0.35, 1e-6);
  EXPECT_NEAR(found.bins[0].accuracy, 0.5, 1e-12);
  EXPECT_EQ(found.bins[1].count, 2);
  EXPECT_NEAR(found.expected_error, 0.125, 1e-6);
  EXPECT_NEAR(found.overconfidence, -0.125, 1e-6);
}

// Episode 0: 0.9 and right twice, 0.1 below the truth; episode 1: 0.9, right and wrong, 0.4 above it. The mean is 0.15,
// the standard deviation sqrt(0.125). All are in one overconfident bin: the terms of the error are the same.
TEST(Calibration, HasIntervalsOverEpisodes) {
  const auto found = reliability_curve({prediction(0, 0, 0, 0, 0.9F), prediction(0, 1, 0, 0, 0.9F),
                                        prediction(1, 2, 1, 1, 0.9F), prediction(1, 3, 1, 0, 0.9F)},
                                       4);
  EXPECT_NEAR(found.overconfidence, 0.15, 1e-6);
  EXPECT_NEAR(found.overconfidence_ci95, 1.96 * std::sqrt(0.125 / 2), 1e-6);
  EXPECT_NEAR(found.expected_error, 0.15, 1e-6);
  EXPECT_NEAR(found.expected_error_ci95, found.overconfidence_ci95, 1e-6);
}

TEST(Calibration, PutsCertaintyIntoTheLastBin) {
  const auto found = reliability_curve({prediction(0, 0, 0, 0, 1.0F)}, 10);
  ASSERT_EQ(found.bins.size(), 1U);
  EXPECT_DOUBLE_EQ(found.bins[0].high, 1.0);
  EXPECT_NEAR(found.expected_error, 0.0, 1e-12);
  EXPECT_THROW(reliability_curve({prediction(0, 0, 0, 0)}, 0), UsageError);
  EXPECT_THROW(reliability_curve({}, 10), Error);
}

// Episode 0 has a and b, episode 1 a and c. Of a's four queries, one of two was answered b where b was present, and
// none of two c where c was present.
TEST(Classes, CountConfusionsOnlyWhereTheyWerePossible) {
  const auto found = analyse_classes(three_classes(), episodes_of({{0, 1}, {0, 2}}),
                                     {prediction(0, 0, 0, 0), prediction(0, 1, 0, 1), prediction(0, 2, 1, 1),
                                      prediction(1, 3, 0, 0), prediction(1, 4, 0, 0), prediction(1, 5, 2, 0)},
                                     {});
  ASSERT_EQ(found.classes.size(), 3U);
  EXPECT_THAT(found.confusion[0], ElementsAre(75.0, 50.0, 0.0));
  EXPECT_THAT(found.confusion[1], ElementsAre(0.0, 100.0, -1.0));  // b never met c
  EXPECT_THAT(found.confusion[2], ElementsAre(100.0, -1.0, 0.0));
  EXPECT_EQ(found.classes[0].queries, 4);
  EXPECT_NEAR(found.classes[0].accuracy.value, 75.0, 1e-9);  // 50 and 100
  EXPECT_EQ(found.classes[0].confused_with, "b");
  EXPECT_DOUBLE_EQ(found.classes[0].confused_percent, 50.0);
  EXPECT_EQ(found.classes[1].confused_with, "");
  EXPECT_EQ(found.classes[1].confused_episodes, 0);
}

// a is answered as b three times in episode 0 and once in episode 1, b as a twice in episode 1 alone.
TEST(Classes, SayInHowManyEpisodesTheirConfusionWasSeen) {
  const auto found = analyse_classes(three_classes(), episodes_of({{0, 1}, {0, 1}, {0, 1}}),
                                     {prediction(0, 0, 0, 1), prediction(0, 1, 0, 1), prediction(0, 2, 0, 1),
                                      prediction(0, 3, 1, 1), prediction(1, 4, 0, 1), prediction(1, 5, 1, 0),
                                      prediction(1, 6, 1, 0), prediction(2, 7, 0, 0), prediction(2, 8, 1, 1)},
                                     {});
  ASSERT_EQ(found.classes.size(), 2U);
  EXPECT_DOUBLE_EQ(found.classes[0].confused_percent, 80.0);
  EXPECT_EQ(found.classes[0].confused_episodes, 2);
  EXPECT_DOUBLE_EQ(found.classes[1].confused_percent, 50.0);
  EXPECT_EQ(found.classes[1].confused_episodes, 1);
}

TEST(Classes, ThatNoEpisodeHasAreLeftOut) {
  const auto found = analyse_classes(three_classes(), episodes_of({{2, 1}}),
                                     {prediction(0, 0, 1, 1), prediction(0, 1, 2, 1)}, {"A", "B", "C"});
  ASSERT_EQ(found.classes.size(), 2U);
  EXPECT_EQ(found.classes[0].title, "B");
  EXPECT_EQ(found.classes[1].class_name, "c");
  EXPECT_EQ(found.classes[1].confused_with, "B");
}

TEST(Mistakes, ComeWithTheHighestProbabilityFirstAndEachImageOnce) {
  const auto found =
      surest_mistakes({prediction(0, 7, 0, 1, 0.6F), prediction(0, 8, 0, 0, 0.99F), prediction(1, 7, 0, 2, 0.8F),
                       prediction(1, 9, 0, 1, 0.7F), prediction(2, 3, 1, 0, 0.2F)},
                      3);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].row, 7);
  EXPECT_EQ(found[0].predicted, 2);
  EXPECT_EQ(found[1].row, 9);
  EXPECT_EQ(found[2].row, 3);
}

TEST(Episodes, ThatLostMostFromFusionComeFirst) {
  const std::vector<MethodScores> scores = {{"mean", "inductive", {50.0, 60.0, 70.0, 80.0}, {}, {}},
                                            {"completed", "inductive", {55.0, 50.0, 71.0, 79.0}, {}, {}},
                                            {"gauss-fusion", "inductive", {62.0, 58.0, 70.0, 70.0}, {}, {}}};
  const auto found = analyse_episodes(three_classes(), episodes_of({{0, 1}, {1, 2}, {0, 2}, {2, 0}}), scores);
  EXPECT_THAT(found.changes, ElementsAre(-10.0, -2.0, 0.0, 12.0));
  EXPECT_NEAR(found.change.value, 0.0, 1e-12);
  EXPECT_DOUBLE_EQ(found.lost_percent, 50.0);
  EXPECT_DOUBLE_EQ(found.unchanged_percent, 25.0);
  ASSERT_EQ(found.worst.size(), 2U);  // those with a gain are not losses
  EXPECT_EQ(found.worst[0].episode, 3);
  EXPECT_THAT(found.worst[0].classes, ElementsAre("c", "a"));
  EXPECT_DOUBLE_EQ(found.worst[1].completed, 50.0);
}

}  // namespace
}  // namespace protocom
