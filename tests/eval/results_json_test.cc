#include "eval/results_json.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "support/ragged_shape.h"

namespace protocom {
namespace {

using testing::ragged_dirichlet;

MethodScores scores(const std::string& method, std::vector<double> accuracy) {
  std::vector<double> cosine(accuracy.size(), 0.5);
  return {method, std::string(method_spec(method).mode()), std::move(accuracy), std::move(cosine), {}};
}

TEST(PairedDifference, IsWorkedOutByHand) {
  // Differences 2, 4, 6: mean 4, std 2, interval 1.96 * 2 / sqrt(3); either method alone varies ten times as much.
  const Estimate difference = paired_difference({12, 54, 86}, {10, 50, 80});
  EXPECT_DOUBLE_EQ(difference.value, 4);
  EXPECT_NEAR(difference.ci95, 1.96 * 2 / std::sqrt(3.0), 1e-12);
}

TEST(Results, CompareMethodsThatAreNamedWithoutTheParametersOfTheirLabels) {
  const std::vector<std::string> methods = {"mean", "plda:prior=none", "tim:steps=10", "tim:steps=20", "gauss-fusion"};
  const Comparisons found = with_labels({"plda", {{"plda", "mean"}, {"paddle", "tim:steps=20"}}}, methods);
  EXPECT_EQ(found.baseline, "plda:prior=none");
  EXPECT_THAT(found.pairs,
              ::testing::ElementsAre(MethodPair("plda:prior=none", "mean"), MethodPair("paddle", "tim:steps=20")));
  EXPECT_EQ(with_labels({"gauss-fusion:scale=10", {}}, methods).baseline, "gauss-fusion") << "10 is the default";
  EXPECT_THROW(with_labels({"mean", {{"tim", "mean"}}}, methods), UsageError) << "two of tim may be meant";
}

TEST(Results, CompareEveryMethodWithTheBaselineAndThePairsAskedFor) {
  const auto rows = paper_rows();
  const auto pairs = pairs_to_compare(rows, {"mean", {{"gauss-fusion", "mean-fusion"}, {"completed", "mean"}}});
  EXPECT_THAT(pairs,
              ::testing::ElementsAre(MethodPair{"completed", "mean"}, MethodPair{"mean-fusion", "mean"},
                                     MethodPair{"gauss-fusion", "mean"}, MethodPair{"gauss-fusion", "mean-fusion"}));
  EXPECT_THAT(pairs_to_compare({"mean", "completed"}, {"completed", {}}),
              ::testing::ElementsAre(MethodPair{"mean", "completed"}));
  EXPECT_THAT(pairs_to_compare({"completed"}, {}), ::testing::IsEmpty());
  EXPECT_THROW(pairs_to_compare({"mean"}, {"completed", {}}), UsageError);
  EXPECT_THROW(pairs_to_compare({"mean"}, {"mean", {{"completed", "mean"}}}), UsageError);
  EXPECT_THROW(pairs_to_compare(rows, {"mean", {{"mean", "mean"}}}), UsageError);
}

TEST(Results, ShapesComeBackFromTheirFields) {
  const EpisodeShape shape = ragged_dirichlet();
  EXPECT_EQ(shape_json(shape_from_json(shape_json(shape))), shape_json(shape));
  EXPECT_EQ(describe(shape_from_json(shape_json({7, 2, 9}))), "7-way 2-shot");
}

TEST(Results, PoolSeedsAndShowEach) {
  const std::vector<SeedScores> seeds = {{7, {scores("mean", {10, 20}), scores("completed", {11, 19})}},
                                         {8, {scores("mean", {30}), scores("completed", {36})}}};
  const auto results = results_json({5, 1, 15}, seeds);
  EXPECT_EQ(results[0]["accuracy"], 20.0);
  EXPECT_EQ(results[0]["episodes"], 3);
  EXPECT_EQ(results[1]["per_episode"], nlohmann::json({11.0, 19.0, 36.0}));
  EXPECT_EQ(results[0]["per_seed"][0]["accuracy"], 15.0);
  EXPECT_EQ(results[0]["per_seed"][1]["seed"], 8);
  const auto differences = differences_json({5, 1, 15}, seeds, {MethodPair{"completed", "mean"}});
  EXPECT_EQ(differences[0]["method"], "completed");
  EXPECT_EQ(differences[0]["baseline"], "mean");
  EXPECT_EQ(differences[0]["difference"], 2.0);  // of 1, -1, 6
  EXPECT_NEAR(differences[0]["better"].get<double>(), 200.0 / 3, 1e-9);
  EXPECT_NEAR(differences[0]["worse"].get<double>(), 100.0 / 3, 1e-9);
  EXPECT_EQ(differences[0]["per_seed"][1]["difference"], 6.0);
  EXPECT_FALSE(results_json({5, 1, 15}, std::vector<SeedScores>{seeds[0]})[0].contains("per_seed"));
}

TEST(Results, TellShapesApart) {
  const auto plain = shape_json({5, 1, 15});
  EXPECT_EQ(plain, nlohmann::json({{"n_way", 5}, {"k_shot", 1}, {"n_query", 15}}));
  const auto special = shape_json(ragged_dirichlet());
  EXPECT_EQ(special["k_shot_max"], 4);
  EXPECT_EQ(special["unlabelled"], 3);
  EXPECT_EQ(special["query_distribution"], "dirichlet");
  EXPECT_EQ(special["alpha"], 1.0);
  EXPECT_EQ(describe({5, 1, 15}), "5-way 1-shot");
  EXPECT_EQ(describe(ragged_dirichlet()), "5-way 1-4-shot + 3 unlabelled, dirichlet(1)");
}

TEST(Results, SignNothingThatRoundsToNothing) {
  EXPECT_EQ(signed_text(0.04, 1), "0.0");
  EXPECT_EQ(signed_text(-0.0, 1), "0.0");
  EXPECT_EQ(signed_text(-0.004, 2), "0.00");
  EXPECT_EQ(signed_text(0.06, 1), "+0.1");
  EXPECT_EQ(signed_text(-1.25, 2), "-1.25");
}

}  // namespace
}  // namespace protocom
