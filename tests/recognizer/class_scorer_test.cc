#include "recognizer/class_scorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "recognizer/store_support.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

/// Returns two classes: "right" with mean (2, 0) and "up" with mean (0, 2).
EnrolledClasses two_classes() {
  EnrolledClasses store = small_store();
  add_class(store, "right", description(1));
  add_class(store, "up", description(0));
  add_images(store, "right", images({{1, 0}, {3, 0}}));
  add_images(store, "up", images({{0, 2}}));
  return store;
}

TEST(ClassScorer, InductivePrototypesAreHalfMeanHalfCompleted) {
  const StoreModel model = store_model({1, 3});
  const ClassScorer scorer(two_classes(), model);
  // .5*(2,0)+.5*(1,3) and .5*(0,2)+.5*(1,3): images in these directions have a cosine of 1, times 10.
  const FloatMatrix logits = scorer.score(images({{1.5, 1.5}, {0.5, 2.5}})).logits;
  EXPECT_NEAR(logits(0, 0), 10, 1e-5);
  EXPECT_NEAR(logits(1, 1), 10, 1e-5);
  EXPECT_LT(logits(0, 1), 9);
}

TEST(ClassScorer, ProbabilitiesAreTheSoftmaxOfScaledCosines) {
  const StoreModel model = store_model({0, 0});
  // Completed (0, 0): the prototypes are (1, 0) and (0, 1); (1, 1) has cosines of 1/sqrt(2) with both, (1, 0) 1 and 0.
  const ClassScorer scorer(two_classes(), model, {"mean-fusion:gamma=2"});
  const FloatMatrix found = probabilities(scorer, images({{1, 1}, {5, 0}}));
  EXPECT_NEAR(found(0, 0), 0.5, 1e-6);
  EXPECT_NEAR(found(1, 0), std::exp(2.0) / (std::exp(2.0) + 1), 1e-6);
  EXPECT_NEAR(found(1, 1), 1 / (std::exp(2.0) + 1), 1e-6);
}

TEST(ClassScorer, UsesTheGammaThatTheModelLearned) {
  StoreModel model = store_model({0, 0});
  model.completion->gamma = 2;
  EXPECT_NEAR(probabilities(ClassScorer(two_classes(), model), images({{5, 0}}))(0, 0),
              std::exp(2.0) / (std::exp(2.0) + 1), 1e-6);
}

TEST(ClassScorer, TheOrderOfTheImagesDoesNotMatterWhenTheyAreClassifiedTogether) {
  const StoreModel model = store_model({1, 3});
  const ClassScorer scorer(two_classes(), model, {"gauss-fusion"});
  const FloatMatrix direct = probabilities(scorer, images({{1, 0.2F}, {0.3F, 2}, {4, 1}}));
  const FloatMatrix permuted = probabilities(scorer, images({{4, 1}, {1, 0.2F}, {0.3F, 2}}));
  const std::vector<int64_t> order = {2, 0, 1};
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_TRUE(permuted.row(i).isApprox(direct.row(order[static_cast<size_t>(i)]), 1e-5F));
}

TEST(ClassScorer, TransductivePrototypesMoveTowardsTheQueries) {
  // All queries lie right and slightly up; the class "right" has no such examples.
  const StoreModel model = store_model({1, 3});
  const Array queries = images(std::vector<std::vector<float>>(50, {4, 1}));
  const float before = ClassScorer(two_classes(), model).score(queries).logits(0, 0);
  EXPECT_GT(ClassScorer(two_classes(), model, {"gauss-fusion"}).score(queries).logits(0, 0), before);
}

TEST(ClassScorer, RefusesAMethodThatNeedsFitting) {
  const StoreModel model = store_model({0, 0});
  EXPECT_THROW(ClassScorer(two_classes(), model, {"restore-net"}), UsageError);
  EXPECT_THROW(ClassScorer(two_classes(), model, {"means"}), UsageError);
}

TEST(ClassScorer, RefusesAStoreOrModelThatDoesNotFit) {
  const auto stated = [](const EnrolledClasses& store, const StoreModel& model) -> std::string {
    try {
      const ClassScorer scorer(store, model);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(stated(small_store(), store_model({0, 0})), HasSubstr("no class is enrolled"));
  EnrolledClasses without_images = two_classes();
  add_class(without_images, "empty", description(1));
  EXPECT_THAT(stated(without_images, store_model({0, 0})), HasSubstr("'empty' has no image"));
  StoreModel other = store_model({0, 0});
  other.completion->attributes = {"wing"};
  EXPECT_THAT(stated(two_classes(), other), HasSubstr("different attributes"));
  EXPECT_THAT(stated(two_classes(), store_model({0, 0, 0})),
              HasSubstr("features: expected 3 dimensions as in the model, found 2 in the enrolled classes"));
}

TEST(ClassScorer, RefusesFeaturesOfAnotherDimension) {
  const StoreModel model = store_model({0, 0});
  const ClassScorer scorer(two_classes(), model);
  EXPECT_THROW(static_cast<void>(scorer.score(Array::zeros({1, 3}))), Error);
  EXPECT_THROW(static_cast<void>(scorer.score(Array::zeros({}))), Error);
}

}  // namespace
}  // namespace protocom::testing
