#include "train/not_learning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

EpochSums with_correct(double correct) { return {3.2, correct, 2500, 1}; }

// 25 classes, 2,500 images: guessing gets 100 right, with a standard error of sqrt(2500 * .04 * .96) = 9.8.
TEST(NotLearning, IsSaidOfAnEpochThatIsNoBetterThanGuessing) {
  const LearningSetting setting{25, 1, 0.1};
  EXPECT_THAT(not_learning(with_correct(100), setting), HasSubstr("4.0 % of the training images"));
  EXPECT_THAT(not_learning(with_correct(129), setting), HasSubstr("--lr 0.02"));
  EXPECT_EQ(not_learning(with_correct(130), setting), "");
}

TEST(NotLearning, IsNotSaidOfTooFewImages) {
  EXPECT_EQ(not_learning({3.2, 4, 499, 1}, {25, 1, 0.1}), "");
  EXPECT_EQ(not_learning({3.2, 4, 100, 1}, {1, 1, 0.1}), "");
}

}  // namespace
}  // namespace protocom::testing
