#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/logged.h"
#include "tensors/tensors.h"
#include "trainers/detail/validation_episodes.h"

namespace protocom {
namespace {

using ::testing::HasSubstr;
using testing::Logged;

/// Returns val classes of the given sizes, each with features along an axis of its own.
FeatureSet val_classes(const std::vector<int64_t>& sizes) {
  FeatureSet set;
  const auto classes = static_cast<int64_t>(sizes.size());
  std::vector<int64_t> labels;
  for (int64_t c = 0; c < classes; ++c) {
    set.class_names.push_back("val" + std::to_string(c));
    set.class_split.push_back(Split::kVal);
    labels.insert(labels.end(), static_cast<size_t>(sizes[static_cast<size_t>(c)]), c);
  }
  set.labels = labels;
  set.features = array_of(at::eye(classes)).gathered(labels);
  for (size_t i = 0; i < labels.size(); ++i) set.image_ids.push_back(std::to_string(i));
  return set;
}

ValidationOptions ten_episodes() {
  ValidationOptions options;
  options.episodes = 10;
  return options;
}

double mean_of(const Validation& validation, const FeatureSet& features) {
  const auto scores = validation.run(features, {}, Progress::none());
  EXPECT_EQ(scores.size(), 1U) << "without a model there are class means alone";
  EXPECT_EQ(scores.front().accuracy.size(), 10U);
  return mean_accuracy(scores, {"mean"});
}

TEST(Validation, OfFourValClassesIsFourWayAndSaysSo) {
  const FeatureSet four = val_classes({20, 20, 20, 20});
  const Logged logged;
  const Validation validation(four, ten_episodes(), 1);
  ASSERT_TRUE(validation.possible());
  EXPECT_THAT(logged.text(), HasSubstr("there are 4 val classes to validate on: episodes are 4-way, not 5-way"));
  // Features of the four classes are perfectly separable; if all are alike the first class always wins, and one query
  // in four belongs to it.
  EXPECT_DOUBLE_EQ(mean_of(validation, four), 100);
  FeatureSet alike = four;
  alike.features = array_of(at::ones({80, 4}));
  EXPECT_DOUBLE_EQ(mean_of(validation, alike), 25);
}

TEST(Validation, OfEnoughClassesSaysNothing) {
  const Logged logged;
  EXPECT_TRUE(Validation(val_classes({20, 20, 20, 20, 20, 20}), ten_episodes(), 1).possible());
  EXPECT_EQ(logged.text(), "");
}

TEST(Validation, LeavesOutAClassWithoutImagesToSpare) {
  const FeatureSet features = val_classes({20, 1, 20, 0, 20});
  const Logged logged;
  const Validation validation(features, ten_episodes(), 1);
  ASSERT_TRUE(validation.possible());
  EXPECT_THAT(logged.text(), HasSubstr("ignoring 2 val classes with at most 1 images"));
  EXPECT_THAT(logged.text(), HasSubstr("3-way, not 5-way"));
  EXPECT_DOUBLE_EQ(mean_of(validation, features), 100);
}

TEST(Validation, HasAsManyQueriesAsTheSmallestClassAllows) {
  const Logged logged;
  ValidationOptions options = ten_episodes();
  options.shape.k_shot = 3;
  const FeatureSet features = val_classes({20, 20, 20, 20, 8});
  const Validation validation(features, options, 1);
  EXPECT_THAT(logged.text(),
              HasSubstr("the smallest val class has 8 images: validation has 5 queries per class, not 15"));
  EXPECT_DOUBLE_EQ(mean_of(validation, features), 100);
}

TEST(Validation, IsNotPossibleWithOneClassOrWithoutEpisodes) {
  const Logged logged;
  EXPECT_EQ(Validation(val_classes({20}), ten_episodes(), 1).every(), 0);
  EXPECT_THAT(logged.text(), HasSubstr("1 val classes have more than 1 images, validation needs two: the last epoch"));
  EXPECT_EQ(Validation(val_classes({}), ten_episodes(), 1).every(), 0);
  EXPECT_THAT(logged.text(), HasSubstr("there are no val classes"));
  ValidationOptions none;
  none.episodes = 0;
  EXPECT_EQ(Validation(val_classes({20, 20}), none, 1).every(), 0);
}

TEST(Validation, RefusesOptionsOutOfRange) {
  ValidationOptions one_way;
  one_way.shape.n_way = 1;
  EXPECT_THROW(Validation(val_classes({20, 20}), one_way, 1), UsageError);
  ValidationOptions never;
  never.every = 0;
  EXPECT_THROW(Validation(val_classes({20, 20}), never, 1), UsageError);
}

TEST(Validation, LogsTheMeanOverEpisodesAndItsInterval) {
  // Accuracies 50 and 70: mean 60, std sqrt(200), 1.96 * sqrt(200) / sqrt(2) = 19.6.
  const std::vector<MethodScores> scores = {{"mean", "inductive", {50, 70}, {}, {}},
                                            {"completed", "inductive", {90, 90}, {}, {}}};
  const nlohmann::json line = accuracies_json(scores);
  EXPECT_DOUBLE_EQ(line.at("mean").at("accuracy"), 60);
  EXPECT_NEAR(line.at("mean").at("ci95").get<double>(), 19.6, 1e-9);
  EXPECT_DOUBLE_EQ(mean_accuracy(scores, {"mean", "completed"}), 75);
  EXPECT_DOUBLE_EQ(mean_accuracy(scores, {"completed"}), 90);
}

}  // namespace
}  // namespace protocom
