#include "eval/test_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "eval/shares.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Told {
  std::string right, answer;
  double certainty = 0;
  int64_t rank = 0;  // 0: of an unknown class
  double loss = 0;
  std::optional<double> none = {};
};

TestResult tested(const std::vector<std::string>& names, const std::vector<Told>& answers) {
  TestResult result;
  for (const Told& told : answers) {
    TestedImage image;
    image.image = std::to_string(result.tested.size()) + ".jpg";
    image.class_name = told.right;
    image.known = told.rank > 0;
    image.answer = told.answer;
    image.certainty = told.certainty;
    image.rank = told.rank;
    image.loss = told.loss;
    image.none = told.none;
    result.tested.push_back(image);
  }
  take_figures(names, result);
  return result;
}

const std::vector<std::string> kNames = {"dog", "cat", "eel"};

TestResult small_test() {
  return tested(kNames, {{"cat", "cat", 0.90, 1, 0.1, 0.0},
                         {"cat", "dog", 0.62, 2, 1.2, 0.1},
                         {"dog", "dog", 0.82, 1, 0.2, 0.7},
                         {"dog", "dog", 0.84, 1, 0.3, 0.2},
                         {"fox", "cat", 0.70, 0, 0.0, 0.05},
                         {"fox", "dog", 0.50, 0, 0.0, 0.6}});
}

TEST(TestFigures, AreThoseOfImagesOfItsOwnClasses) {
  const TestResult found = small_test();
  EXPECT_EQ(found.enrolled, 3);
  EXPECT_EQ(found.images, 4);
  EXPECT_EQ(found.right, 3);
  EXPECT_DOUBLE_EQ(found.accuracy, 0.75);
  EXPECT_NEAR(found.low, 0.3006, 1e-4) << "Wilson's interval of 3 of 4";
  EXPECT_NEAR(found.high, 0.9544, 1e-4);
  EXPECT_FALSE(found.top5) << "three classes are always among the first five";
  EXPECT_NEAR(found.certainty, (0.90 + 0.62 + 0.82 + 0.84) / 4, 1e-12);
  EXPECT_NEAR(found.log_loss, (0.1 + 1.2 + 0.2 + 0.3) / 4, 1e-12);
}

TEST(TestFigures, ErrorOfCalibrationIsThatOfBinsOfAFifteenth) {
  const TestResult found = small_test();
  ASSERT_THAT(found.bins, SizeIs(3));
  EXPECT_NEAR(found.bins[0].low, 9.0 / 15, 1e-12);
  EXPECT_EQ(found.bins[0].accuracy, 0);
  EXPECT_EQ(found.bins[1].images, 2) << "0.82 and 0.84";
  EXPECT_NEAR(found.bins[1].certainty, 0.83, 1e-6);
  EXPECT_NEAR(found.expected_error, (0.62 + 2 * (1 - 0.83) + (1 - 0.90)) / 4, 1e-6);
}

TEST(TestFigures, CountWhatIsRefusedAndWhatIsAccepted) {
  const TestResult found = small_test();
  EXPECT_EQ(found.refused, 1);
  EXPECT_EQ(found.kept_right, 2) << "the refused one was right";
  EXPECT_EQ(found.unknown, 2);
  EXPECT_EQ(found.accepted, 1);
  ASSERT_THAT(found.unknown_classes, SizeIs(1));
  EXPECT_EQ(found.unknown_classes[0].name, "fox");
  EXPECT_EQ(found.unknown_classes[0].images, 2);
  EXPECT_EQ(found.unknown_classes[0].accepted, 1);
}

TEST(TestFigures, SayWhatAClassIsTakenFor) {
  const TestResult found = tested(kNames, {{"cat", "eel", 0.5, 2, 1},
                                           {"cat", "dog", 0.5, 2, 1},
                                           {"cat", "eel", 0.5, 3, 1},
                                           {"cat", "cat", 0.5, 1, 1},
                                           {"dog", "dog", 0.5, 1, 1}});
  ASSERT_THAT(found.classes, SizeIs(2)) << "those with images, in the recognizer's order";
  EXPECT_EQ(found.classes[0].name, "dog");
  EXPECT_EQ(found.classes[0].confused_with, "");
  EXPECT_EQ(found.classes[1].images, 4);
  EXPECT_EQ(found.classes[1].right, 1);
  EXPECT_EQ(found.classes[1].confused_with, "eel");
  EXPECT_EQ(found.classes[1].confused, 2);
  ASSERT_THAT(found.confusion, SizeIs(4));
  EXPECT_EQ(found.confusion[3].class_name, "cat");
  EXPECT_EQ(found.confusion[3].answer, "eel");
  EXPECT_EQ(found.confusion[3].images, 2);
}

TEST(TestFigures, HaveTheFirstFiveOfSixClasses) {
  const TestResult found =
      tested({"a", "b", "c", "d", "e", "f"}, {{"a", "a", 0.5, 1, 1}, {"b", "a", 0.5, 5, 1}, {"c", "a", 0.5, 6, 1}});
  ASSERT_TRUE(found.top5);
  EXPECT_NEAR(*found.top5, 2.0 / 3, 1e-12);
}

TEST(TestFigures, WorstAnswersAreTheSurestThatWereGiven) {
  const TestResult found = small_test();
  EXPECT_THAT(worst_answers(found, 9), ElementsAre(4, 1)) << "0.70 * 0.95 of a fox, then 0.62 * 0.9";
  EXPECT_THAT(worst_answers(found, 1), ElementsAre(4));
  TestResult uncalibrated = tested(kNames, {{"cat", "dog", 0.4, 2, 1}, {"fox", "dog", 0.9, 0, 0}});
  EXPECT_THAT(worst_answers(uncalibrated, 9), ElementsAre(0)) << "nothing else could be said of the fox";
}

TEST(TestFigures, OfTwoAreComparedImageByImage) {
  const TestResult one =
      tested(kNames, {{"cat", "cat", 0.9, 1, 1}, {"cat", "dog", 0.9, 2, 1}, {"fox", "dog", 0.9, 0, 0}});
  const TestResult other =
      tested(kNames, {{"cat", "cat", 0.8, 1, 1}, {"cat", "cat", 0.8, 1, 1}, {"fox", "cat", 0.9, 0, 0}});
  const TestComparison found = compare_tests(one, other);
  EXPECT_EQ(found.images, 2);
  EXPECT_EQ(found.first_only, 0);
  EXPECT_EQ(found.second_only, 1);
  EXPECT_DOUBLE_EQ(found.difference, 0.5);
  EXPECT_EQ(found.p_value, 1);
  EXPECT_THAT(found.differing, ElementsAre(1, 2));
  EXPECT_THAT(compare_tests(one, one).differing, IsEmpty());
  EXPECT_THAT(message_of([&] { compare_tests(one, small_test()); }), HasSubstr("same images, found 3 and 6"));
}

TEST(Shares, PairedIntervalAddsHalfAQuestionToEachCell) {
  const ShareInterval found = paired_interval({10, 1, 4});
  EXPECT_NEAR(found.low, 0.25 - 0.37424, 1e-4);
  EXPECT_NEAR(found.high, 0.25 + 0.37424, 1e-4);
  const ShareInterval same = paired_interval({10, 0, 0});
  EXPECT_LT(same.low, -0.1) << "ten images on which both are right say little";
  EXPECT_NEAR(same.low + same.high, 0, 1e-12);
}

TEST(Shares, ExactTestCountsSplitsThatAreAsUneven) {
  EXPECT_NEAR(mcnemar_p_value({10, 1, 4}), 2 * (1 + 5) / 32.0, 1e-12);
  EXPECT_NEAR(mcnemar_p_value({10, 4, 1}), 0.375, 1e-12);
  EXPECT_EQ(mcnemar_p_value({10, 3, 3}), 1);
}

TEST(Shares, IntervalOfNoTrialIsRefused) {
  EXPECT_THROW(share_interval(0, 0), Error);
  EXPECT_THROW(paired_interval({}), Error);
  EXPECT_EQ(share_interval(0, 5).low, 0);
  EXPECT_NEAR(share_interval(0, 5).high, 0.4345, 1e-4) << "none of five may be 43 %";
}

}  // namespace
}  // namespace protocom::testing
