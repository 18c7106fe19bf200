#include "eval/analysis_centres.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "eval/analysis_base_classes.h"
#include "fewshot/align_knowledge.h"
#include "support/message_of.h"
#include "support/toy_features.h"
#include "support/untrained.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

TEST(MovingAverage, IsTheMeanOfEveryRunOfNeighbours) {
  EXPECT_THAT(moving_average({1.0, 2.0, 6.0, 3.0}, 2), Pointwise(DoubleNear(1e-12), {1.5, 4.0, 4.5}));
  EXPECT_THAT(moving_average({1.0, 2.0, 6.0, 3.0}, 4), Pointwise(DoubleNear(1e-12), {3.0}));
  EXPECT_THAT(moving_average({1.0, 2.0}, 1), ElementsAre(1.0, 2.0));
}

TEST(Resampled, KeepsTheEndsAndInterpolatesBetween) {
  EXPECT_THAT(resampled({0.0, 2.0, 10.0}, 5), Pointwise(DoubleNear(1e-12), {0.0, 1.0, 2.0, 6.0, 10.0}));
  EXPECT_THAT(resampled({3.0, 1.0, 4.0}, 3), ElementsAre(3.0, 1.0, 4.0));
  EXPECT_THAT(resampled({3.0, 1.0, 4.0}, 2), ElementsAre(3.0, 4.0));
}

TEST(MovingAverage, RefusesWindowsAndCountsThatCannotBe) {
  EXPECT_THROW(moving_average({1.0, 2.0}, 3), UsageError);
  EXPECT_THROW(moving_average({1.0, 2.0}, 0), UsageError);
  EXPECT_THROW(resampled({}, 2), UsageError);
  EXPECT_THROW(resampled({1.0}, 0), UsageError);
}

// The centre of (1, 0), (1, 0.2), (1, -1) and (5, 0.8) is (2, 0): cosines 1, 0.981, 0.707 and 0.987.
TEST(ExtremeImages, AreOrderedByTheirAngleToTheCentre) {
  FeatureSet features;
  features.features = Array::of<float>({1, 0, 1, 0.2F, 1, -1, 5, 0.8F}, {4, 2});
  features.labels = {0, 0, 0, 0};
  features.class_names = {"only"};
  features.class_split = {Split::kNovel};
  features.image_ids = {"w", "x", "y", "z"};
  const auto found = extreme_images(features, {"only"}, 2);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].nearest[0].image_id, "w");
  EXPECT_EQ(found[0].nearest[1].image_id, "z");
  EXPECT_EQ(found[0].farthest[0].image_id, "y");
  EXPECT_EQ(found[0].farthest[1].image_id, "x");
  EXPECT_NEAR(found[0].farthest[0].cosine, std::sqrt(0.5), 1e-6);
  EXPECT_THAT(testing::message_of([&] { extreme_images(features, {"onyl"}, 2); }), HasSubstr("only"));
}

TEST(RandomClasses, AreDistinctOnesOfTheSplitInOrder) {
  const auto world = testing::toy_world();
  const auto names = random_classes(world.features, Split::kNovel, 4, 7);
  ASSERT_EQ(names.size(), 4U);
  EXPECT_EQ(names, random_classes(world.features, Split::kNovel, 4, 7));
  for (const std::string& name : names) EXPECT_GE(std::stoi(name.substr(5)), 106) << "not a novel class";
  EXPECT_EQ(random_classes(world.features, Split::kNovel, 99, 7).size(), 6U);
}

TEST(SingleImages, AreOrderedFromTheCentreOutwardsAndSmoothed) {
  const auto world = testing::toy_world();
  const CompletionModel model = testing::untrained_model(world);
  const KnowledgeTable classes = align_knowledge(world.knowledge, world.features.class_names, model.attributes);
  const auto analysis = analyse_single_images({{world.features, &model, &classes}}, Split::kNovel, 5);
  EXPECT_EQ(analysis.classes, 6);
  EXPECT_EQ(analysis.ranks, 30);
  EXPECT_EQ(analysis.window, 5);
  ASSERT_EQ(analysis.curves.size(), 3U);
  const auto& images = analysis.curves[0].cosine;
  ASSERT_EQ(images.size(), 26U);
  EXPECT_TRUE(std::is_sorted(images.rbegin(), images.rend()));  // by definition of the order
  EXPECT_EQ(analyse_single_images({{world.features, &model, &classes}}, Split::kNovel, 50).window, 30 / 4);
}

/// Returns the mean and interval over classes of each class's own difference between two curves at the first or the
/// last entry.
Estimate over_classes(const std::vector<SingleImageAnalysis>& alone, double (*end)(const std::vector<double>&)) {
  std::vector<double> completed, image;
  for (const SingleImageAnalysis& one : alone) {
    image.push_back(end(one.curves[0].cosine));
    completed.push_back(end(one.curves[1].cosine));
  }
  return paired_difference(completed, image);
}

// All classes have 30 images, so that each has the same ranks alone as beside the others.
TEST(SingleImages, HaveGainsThatAreTheDifferencesClassByClass) {
  const auto world = testing::toy_world();
  const CompletionModel model = testing::untrained_model(world);
  const KnowledgeTable classes = align_knowledge(world.knowledge, world.features.class_names, model.attributes);
  const auto found = analyse_single_images({{world.features, &model, &classes}}, Split::kNovel, 5);
  std::vector<SingleImageAnalysis> alone;
  for (const int64_t k : world.features.classes_of(Split::kNovel)) {
    const FeatureSet one = keep_classes(world.features, {k});
    const KnowledgeTable own = align_knowledge(world.knowledge, one.class_names, model.attributes);
    alone.push_back(analyse_single_images({{one, &model, &own}}, Split::kNovel, 5));
  }
  const SingleImageCurve& completed = found.curves[1];
  ASSERT_EQ(completed.method, "completed");
  const Estimate nearest = over_classes(alone, [](const std::vector<double>& curve) { return curve.front(); });
  const Estimate farthest = over_classes(alone, [](const std::vector<double>& curve) { return curve.back(); });
  EXPECT_NEAR(completed.nearest_gain.value, nearest.value, 1e-6);
  EXPECT_NEAR(completed.nearest_gain.ci95, nearest.ci95, 1e-6);
  EXPECT_NEAR(completed.farthest_gain.value, farthest.value, 1e-6);
  EXPECT_NEAR(completed.farthest_gain.ci95, farthest.ci95, 1e-6);
  EXPECT_GT(nearest.ci95, 1e-3);
  EXPECT_NEAR(found.curves[0].farthest_gain.value, 0.0, 1e-6);  // the mean of one image is that image
  EXPECT_NEAR(found.curves[0].farthest_gain.ci95, 0.0, 1e-6);
}

}  // namespace
}  // namespace protocom
