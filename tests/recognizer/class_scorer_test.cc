#include "recognizer/class_scorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "recognizer/store_support.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

/// Two classes: "right" with mean (2, 0) and "up" with mean (0, 2).
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
  const at::Tensor expected =
      at::tensor({1.5F, 1.5F, 0.5F, 2.5F}).view({2, 2});  // .5*(2,0)+.5*(1,3) and .5*(0,2)+.5*(1,3)
  EXPECT_TRUE(at::allclose(scorer.score(at::zeros({0, 2})).prototypes, expected));
}

TEST(ClassScorer, ProbabilitiesAreTheSoftmaxOfScaledCosines) {
  const StoreModel model = store_model({0, 0});
  // Completed (0, 0): the prototypes are (1, 0) and (0, 1), the cosines of (1, 1) with them both 1/sqrt(2), of (1, 0) 1
  // and 0.
  const ClassScorer scorer(two_classes(), model, {"mean-fusion:gamma=2"});
  const at::Tensor probabilities = scorer.probabilities(at::tensor({1.0F, 1.0F, 5.0F, 0.0F}).view({2, 2}));
  EXPECT_NEAR(probabilities[0][0].item<double>(), 0.5, 1e-6);
  EXPECT_NEAR(probabilities[1][0].item<double>(), std::exp(2.0) / (std::exp(2.0) + 1), 1e-6);
  EXPECT_NEAR(probabilities[1][1].item<double>(), 1 / (std::exp(2.0) + 1), 1e-6);
}

TEST(ClassScorer, UsesTheGammaThatTheModelLearned) {
  StoreModel model = store_model({0, 0});
  model.completion->gamma = 2;
  const at::Tensor query = at::tensor({5.0F, 0.0F}).view({1, 2});
  EXPECT_NEAR(ClassScorer(two_classes(), model).probabilities(query)[0][0].item<double>(),
              std::exp(2.0) / (std::exp(2.0) + 1), 1e-6);
}

TEST(ClassScorer, WithoutQueriesTransductiveIsInductive) {
  const StoreModel model = store_model({1, 3});
  const at::Tensor none = at::zeros({0, 2});
  EXPECT_TRUE(at::allclose(ClassScorer(two_classes(), model, {"gauss-fusion"}).score(none).prototypes,
                           ClassScorer(two_classes(), model).score(none).prototypes));
}

TEST(ClassScorer, TheOrderOfTheImagesDoesNotMatterWhenTheyAreClassifiedTogether) {
  const StoreModel model = store_model({1, 3});
  const ClassScorer scorer(two_classes(), model, {"gauss-fusion"});
  const at::Tensor queries = at::tensor({1.0F, 0.2F, 0.3F, 2.0F, 4.0F, 1.0F}).view({3, 2});
  const at::Tensor order = at::tensor({2, 0, 1}, at::kLong);
  const at::Tensor direct = scorer.probabilities(queries).index_select(0, order);
  const at::Tensor permuted = scorer.probabilities(queries.index_select(0, order));
  EXPECT_TRUE(at::allclose(direct, permuted, 1e-5, 1e-6));
}

TEST(ClassScorer, TransductivePrototypesMoveTowardsTheQueries) {
  // All queries lie right and a little up; the class "right" has seen none like them.
  const StoreModel model = store_model({1, 3});
  const at::Tensor queries = at::tensor({4.0F, 1.0F}).expand({50, 2});
  const at::Tensor before = ClassScorer(two_classes(), model).score(queries).prototypes[0][0];
  const at::Tensor after = ClassScorer(two_classes(), model, {"gauss-fusion"}).score(queries).prototypes[0][0];
  EXPECT_LT((after - queries[0]).norm().item<double>(), (before - queries[0]).norm().item<double>());
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
  EXPECT_THAT(stated(small_store(), store_model({0, 0})), HasSubstr("no class yet"));
  EnrolledClasses without_images = two_classes();
  add_class(without_images, "empty", description(1));
  EXPECT_THAT(stated(without_images, store_model({0, 0})), HasSubstr("'empty' has no image"));
  StoreModel other = store_model({0, 0});
  other.completion->attributes = {"wing"};
  EXPECT_THAT(stated(two_classes(), other), HasSubstr("other attributes"));
  EXPECT_THAT(stated(two_classes(), store_model({0, 0, 0})),
              HasSubstr("features of 3 dimensions, those that are enrolled have 2"));
}

TEST(ClassScorer, RefusesFeaturesOfAnotherDimension) {
  const StoreModel model = store_model({0, 0});
  const ClassScorer scorer(two_classes(), model);
  EXPECT_THROW(static_cast<void>(scorer.probabilities(at::zeros({1, 3}))), Error);
  EXPECT_THROW(static_cast<void>(scorer.score(at::zeros({1, 3}))), Error);
  EXPECT_THROW(static_cast<void>(scorer.probabilities(at::zeros({}))), Error);
}

}  // namespace
}  // namespace protocom::testing
