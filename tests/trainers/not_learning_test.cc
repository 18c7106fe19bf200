#include "trainers/detail/not_learning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

EpochSums with_correct(double correct) { return {3.2, correct, 2500, 1}; }

Schedule schedule(int64_t epochs, double warm_up) {
  return {ScheduleShape::kCosine, 0.1, epochs, Schedule().milestones, warm_up};
}

LearningWatch of_25_classes() { return {25, schedule(10, 0), 0.1}; }

// 25 classes, 2,500 images: guessing gets 100 right, with a standard error of sqrt(2500 * .04 * .96) = 9.8.
TEST(NotLearning, IsSaidOfAnEpochThatIsNoBetterThanGuessing) {
  EXPECT_THAT(of_25_classes().add(1, with_correct(100)), HasSubstr("4.0 % of the training images"));
  EXPECT_THAT(of_25_classes().add(1, with_correct(129)), HasSubstr("--lr 0.02"));
  EXPECT_EQ(of_25_classes().add(1, with_correct(130)), "");
}

TEST(NotLearning, AdvisesTheUsualRateWhetherItIsFarAboveOrBelow) {
  EXPECT_THAT(LearningWatch(25, schedule(10, 0), 2).add(1, with_correct(100)),
              HasSubstr("rate 0.1 does not work; try --lr 2,"));
  EXPECT_THAT(LearningWatch(25, schedule(10, 0), 0.025).add(1, with_correct(100)),
              HasSubstr("rate 0.1 does not work; try --lr 0.025,"));
}

// 60 classes, 300 images per epoch: ten epochs make the 3,000 images that 60 classes need; guessing gets 50 right.
TEST(NotLearning, IsSaidOfSeveralEpochsTogetherWhereOneHasTooFewImages) {
  LearningWatch watch(60, schedule(100, 0), 0.1);
  for (int64_t epoch = 1; epoch < 10; ++epoch) EXPECT_EQ(watch.add(epoch, {3.2, 5, 300, 1}), "") << epoch;
  EXPECT_THAT(watch.add(10, {3.2, 5, 300, 1}), HasSubstr("epoch 10: 1.7 % of the training images"));
  EXPECT_EQ(watch.unjudged().count, 0);
  LearningWatch resumed(60, schedule(100, 0), 0.1);
  resumed.go_on_from({0, 45, 2700, 0});
  EXPECT_NE(resumed.add(18, {3.2, 5, 300, 1}), "");
}

TEST(NotLearning, IsNotSaidOfTheWarmUp) {
  LearningWatch watch(25, schedule(10, 0.15), 0.1);
  EXPECT_EQ(watch.add(1, with_correct(100)), "");
  EXPECT_EQ(watch.add(2, with_correct(100)), "") << "it ends in the middle of this epoch";
  EXPECT_NE(watch.add(3, with_correct(100)), "");
  EXPECT_NE(LearningWatch(25, schedule(1, 0.1), 0.1).add(1, with_correct(100)), "") << "there is no other epoch";
}

TEST(NotLearning, IsNotSaidOfOneClass) {
  EXPECT_EQ(LearningWatch(1, schedule(9, 0), 0.1).add(1, {3.2, 0, 100, 1}), "");
}

}  // namespace
}  // namespace protocom::testing
