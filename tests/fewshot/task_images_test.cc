#include "fewshot/task_images.h"

#include <gtest/gtest.h>

#include "fewshot/methods.h"
#include "fewshot/row_length.h"
#include "support/message_of.h"

namespace protocom {
namespace {

/// Returns six images of three classes in mixed order. Image i is (i, 10 i).
FloatMatrix mixed_features() {
  FloatMatrix features(6, 2);
  for (int64_t i = 0; i < 6; ++i) features.row(i) << static_cast<float>(i), static_cast<float>(10 * i);
  return features;
}
const std::vector<int64_t> kMixed = {2, 0, 1, 0, 2, 2};

std::vector<float> first_numbers(const TaskImages& images) {
  return {images.rows.col(0).begin(), images.rows.col(0).end()};
}

TEST(TaskImages, LieClassByClassInTheirOrderFilledUpWithZeros) {
  const TaskImages images = TaskImages::of(mixed_features(), kMixed, 3);
  EXPECT_EQ(images.label, (std::vector<int64_t>{0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(first_numbers(images), (std::vector<float>{1, 3, 2, 0, 4, 5}));
  EXPECT_EQ(images.numbers, (std::vector<int64_t>{0, 1, 2}));
  ASSERT_EQ(images.rows.cols(), kRowMultiple);
  EXPECT_EQ(images.rows.rightCols(kRowMultiple - 2).cwiseAbs().sum(), 0);
}

TEST(TaskImages, WithoutAClassTheOthersAreNumberedAnew) {
  TaskImages images = TaskImages::of(mixed_features(), kMixed, 3);
  images.shares = {0.5F, 0.3F, 0.2F};
  const TaskImages rest = images.without_class(1);
  EXPECT_EQ(rest.classes, 2);
  EXPECT_EQ(rest.label, (std::vector<int64_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(rest.numbers, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(rest.shares, (std::vector<float>{0.5F, 0.2F}));
  EXPECT_EQ(first_numbers(rest), (std::vector<float>{1, 3, 0, 4, 5}));
}

TEST(TaskImages, TakeSoftSupportsBesideTheirOwnWithTheirWeights) {
  const TaskImages images = TaskImages::of(mixed_features(), kMixed, 3);
  SoftSupports soft{FloatMatrix::Constant(2, 2, 7), FloatMatrix(2, 2)};
  soft.weights << 0.25F, 0.0005F, 0.5F, 0.75F;
  const TaskImages both = with_soft_supports(images, soft.among(3, {0, 2}));
  EXPECT_EQ(both.label, (std::vector<int64_t>{0, 0, 0, 0, 1, 2, 2, 2, 2}));
  EXPECT_EQ(first_numbers(both), (std::vector<float>{1, 3, 7, 7, 2, 0, 4, 5, 7}));
  EXPECT_EQ(both.weights, (std::vector<float>{1, 1, 0.25F, 0.5F, 1, 1, 1, 1, 0.75F}));
  EXPECT_TRUE(with_soft_supports(images, {}).weights.empty());
}

TEST(TaskImages, AreAskedAboutThroughTheSpaceOfTheMethod) {
  const PreparedMethod mean = make_method("mean:gamma=1")->prepare({});
  const FloatMatrix queries = mixed_features().bottomRows(1);
  TaskImages images = TaskImages::of(mixed_features().bottomRows(5), {0, 1, 0, 1, 1}, 2);
  const QueryScores scores = answer_of(mean, images.mapped(mean.space.get()), queries);
  ASSERT_EQ(scores.logits.rows(), 1);
  EXPECT_NEAR(scores.logits(0, 0), 1, 1e-6) << "all lie in one direction";
  images = images.only({0, 1});
  EXPECT_EQ(testing::message_of([&] { static_cast<void>(answer_of(mean, images, queries)); }),
            "class 1: expected at least one support, found none");
}

}  // namespace
}  // namespace protocom
