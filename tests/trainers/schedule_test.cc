#include "training/schedule.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace protocom {
namespace {

TEST(Schedule, FallsAtSixtyEightyAndNinetyOfAHundredEpochs) {
  const Schedule schedule;
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(59), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(60), 0.01);
  EXPECT_DOUBLE_EQ(schedule.at(79), 0.01);
  EXPECT_NEAR(schedule.at(80), 0.001, 1e-15);
  EXPECT_NEAR(schedule.at(89), 0.001, 1e-15);
  EXPECT_NEAR(schedule.at(90), 0.0001, 1e-15);
  EXPECT_NEAR(schedule.at(99), 0.0001, 1e-15);
}

TEST(Schedule, ScalesItsMilestonesWithTheNumberOfEpochs) {
  Schedule schedule;
  schedule.epochs = 10;  // falls at epochs 6, 8 and 9
  EXPECT_DOUBLE_EQ(schedule.at(5), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(6), 0.01);
  EXPECT_NEAR(schedule.at(8), 0.001, 1e-15);
  EXPECT_NEAR(schedule.at(9), 0.0001, 1e-15);
}

TEST(Schedule, CosineStartsFullAndIsHalfInTheMiddle) {
  Schedule schedule;
  schedule.shape = ScheduleShape::kCosine;
  schedule.learning_rate = 0.2;
  schedule.epochs = 60;
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.2);
  EXPECT_NEAR(schedule.at(20), 0.15, 1e-12);  // cos 60 degrees = 0.5
  EXPECT_NEAR(schedule.at(30), 0.1, 1e-12);
  EXPECT_NEAR(schedule.at(40), 0.05, 1e-12);
}

TEST(Schedule, CosineOfStepsFallsWithinAnEpoch) {
  Schedule schedule;
  schedule.shape = ScheduleShape::kCosineSteps;
  schedule.learning_rate = 0.2;
  schedule.epochs = 3;
  EXPECT_DOUBLE_EQ(schedule.at(0, 0, 4), 0.2);
  EXPECT_NEAR(schedule.at(1, 0, 4), 0.15, 1e-12);  // a third of the way
  EXPECT_NEAR(schedule.at(1, 2, 4), 0.1, 1e-12);
  EXPECT_NEAR(schedule.at(1, 0, 4), schedule.at(1), 1e-12);
  EXPECT_LT(schedule.at(2, 3, 4), 0.004);
  EXPECT_EQ(parse_schedule_shape("cosine-steps"), ScheduleShape::kCosineSteps);
}

TEST(Schedule, RisesAStepAtATimeWhileWarmingUp) {
  Schedule schedule;
  schedule.epochs = 10;
  EXPECT_DOUBLE_EQ(schedule.at(0, 0, 4), 0.1);  // no warm-up unless requested
  schedule.warm_up = 0.2;                       // 8 of 40 steps
  EXPECT_DOUBLE_EQ(schedule.at(0, 0, 4), 0.1 / 8);
  EXPECT_DOUBLE_EQ(schedule.at(1, 1, 4), 0.1 * 6 / 8);
  EXPECT_DOUBLE_EQ(schedule.at(1, 3, 4), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(2, 0, 4), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(6, 0, 4), 0.01);
}

TEST(Schedule, ReadsItsOwnNamesAndRefusesOthers) {
  EXPECT_EQ(parse_schedule_shape("step"), ScheduleShape::kStep);
  EXPECT_EQ(parse_schedule_shape(std::string(to_string(ScheduleShape::kCosine))), ScheduleShape::kCosine);
  EXPECT_THROW(parse_schedule_shape("linear"), UsageError);
}

}  // namespace
}  // namespace protocom
