#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "eval/results_file.h"
#include "report/headline.h"
#include "support/message_of.h"

namespace protocom {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json result(const std::string& method, const std::string& mode, int k_shot, double accuracy) {
  return {{"method", method}, {"mode", mode},  {"n_way", 5},           {"k_shot", k_shot},
          {"n_query", 15},    {"episodes", 4}, {"accuracy", accuracy}, {"ci95", 0.5}};
}

json evaluation(std::vector<json> results) {
  return {
      {"header", {{"seed", 7}}}, {"dataset", {{"split", "novel"}, {"classes", 20}}}, {"results", std::move(results)}};
}

std::string parse_refusal(const json& parsed) {
  return testing::message_of([&] { parse_evaluation(parsed, "r.json"); });
}

TEST(Evaluation, ReadsWhatEvaluateWrites) {
  json one = result("completed", "inductive", 1, 54.5);
  one["cosine"] = 0.87;
  one["cosine_ci95"] = 0.01;
  one["per_episode"] = {50.0, 60.0, 54.0, 54.0};
  const Evaluation parsed = parse_evaluation(evaluation({one}), "r.json");
  ASSERT_EQ(parsed.results.size(), 1U);
  EXPECT_EQ(parsed.results[0].method, "completed");
  EXPECT_EQ(parsed.results[0].n_query, 15);
  EXPECT_DOUBLE_EQ(parsed.results[0].accuracy.value, 54.5);
  EXPECT_DOUBLE_EQ(parsed.results[0].cosine->ci95, 0.01);
  EXPECT_EQ(parsed.results[0].per_episode.size(), 4U);
}

TEST(Evaluation, NamesTheFileAndTheFieldThatIsWrong) {
  EXPECT_THAT(parse_refusal(json::array()), HasSubstr("r.json is not a JSON object"));
  EXPECT_THAT(parse_refusal(json{{"a", 1}}), HasSubstr("r.json: missing 'results'"));
  EXPECT_THAT(parse_refusal(evaluation({})), HasSubstr("no results"));
  json missing = result("mean", "inductive", 1, 50.0);
  missing.erase("ci95");
  EXPECT_THAT(parse_refusal(evaluation({result("mean", "inductive", 1, 50.0), missing})),
              HasSubstr("r.json: results[1]: missing 'ci95'"));
  json text = result("mean", "inductive", 1, 50.0);
  text["accuracy"] = "high";
  EXPECT_THAT(parse_refusal(evaluation({text})), HasSubstr("'accuracy' is \"high\""));
  EXPECT_THAT(parse_refusal(evaluation({result("mean", "both", 1, 50.0)})), HasSubstr("unknown mode 'both'"));
  EXPECT_THAT(parse_refusal(evaluation({result("mean", "inductive", 1, 101.0)})), HasSubstr("101"));
}

// Differences 2, 4, 6, 8: mean 5, sample variance (9 + 1 + 1 + 9) / 3 = 20/3, interval 1.96 sqrt(20/3/4) = 2.5303.
TEST(Gain, OfTheSameEpisodesUsesTheirDifferences) {
  MethodResult a;
  MethodResult b;
  b.per_episode = {50.0, 70.0, 40.0, 60.0};
  a.per_episode = {52.0, 74.0, 46.0, 68.0};
  const Estimate gain = gain_over(a, b);
  EXPECT_NEAR(gain.value, 5.0, 1e-12);
  EXPECT_NEAR(gain.ci95, 2.53035, 1e-5);
}

TEST(Gain, WithoutEpisodesAddsTheIntervalsAsIndependentOnes) {
  MethodResult a;
  MethodResult b;
  a.accuracy = {60.0, 3.0};
  b.accuracy = {50.0, 4.0};
  EXPECT_DOUBLE_EQ(gain_over(a, b).value, 10.0);
  EXPECT_DOUBLE_EQ(gain_over(a, b).ci95, 5.0);
}

TEST(SignedNumber, HasATrueMinusAndNoNegativeZero) {
  EXPECT_EQ(signed_number(4.04, 1), "+4.0");
  EXPECT_EQ(signed_number(-1.25001, 1), "−1.3");
  EXPECT_EQ(signed_number(-0.01, 1), "0.0");
  EXPECT_EQ(signed_number(0.01, 1), "0.0");
  EXPECT_EQ(signed_number(0.0312, 3), "+0.031");
}

std::string headline_of(const std::vector<json>& results) {
  return headline(parse_evaluation(evaluation(results), "r.json"));
}

// sqrt(0.5^2 + 0.5^2) = 0.7
TEST(Headline, HasTheBestMethodOfEachModeWithTheFewestShotsAndItsGain) {
  EXPECT_EQ(headline_of({result("mean", "inductive", 5, 80.0), result("mean", "inductive", 1, 53.3),
                         result("completed", "inductive", 1, 54.5), result("mean-fusion", "inductive", 1, 57.3),
                         result("gauss-fusion", "transductive", 1, 61.5)}),
            "5-way 1-shot: mean-fusion (inductive) 57.3 ± 0.5\u00a0%, +4.0 ± 0.7 points vs mean; gauss-fusion "
            "(transductive) 61.5 ± 0.5\u00a0%, +8.2 ± 0.7 points vs mean.");
}

TEST(Headline, NamesTheTaskAsItWasDrawn) {
  json unbalanced = result("mean-fusion", "inductive", 1, 66.4);
  unbalanced["query_distribution"] = "dirichlet";
  unbalanced["alpha"] = 0.5;
  EXPECT_THAT(headline_of({unbalanced}), HasSubstr("dirichlet(0.5): mean-fusion (inductive) 66.4 ± 0.5\u00a0%."));
}

TEST(Headline, OfARaggedTaskLeavesOtherTasksOut) {
  json ragged = result("mean-fusion", "inductive", 1, 66.4);
  ragged["k_shot_max"] = 5;
  json mean = result("mean", "inductive", 1, 64.4);
  mean["k_shot_max"] = 5;
  EXPECT_THAT(
      headline_of({mean, ragged, result("mean", "inductive", 1, 53.3), result("completed", "inductive", 1, 80)}),
      HasSubstr("mean-fusion (inductive) 66.4 ± 0.5\u00a0%, +2.0 ± 0.7 points vs mean."));
}

TEST(Headline, SaysThatAGainWithinItsIntervalIsNotSignificant) {
  EXPECT_THAT(headline_of({result("mean", "inductive", 5, 71.5), result("completed", "inductive", 5, 71.6)}),
              HasSubstr("+0.1 ± 0.7 points vs mean, not significant"));
  EXPECT_THAT(headline_of({result("mean", "inductive", 5, 71.5), result("completed", "inductive", 5, 69.0)}),
              HasSubstr("−2.5 ± 0.7 points vs mean"));
}

TEST(Headline, WithoutAMeanToCompareWithIsThePlainFigure) {
  EXPECT_EQ(headline_of({result("completed", "inductive", 1, 54.5)}),
            "5-way 1-shot: completed (inductive) 54.5 ± 0.5\u00a0%.");
}

// The differences are 4 and 6: 5 ± 1.96 sqrt(2 / 2).
TEST(Expectation, SaysWhatTheBestInductiveMethodGetsRightByClassesAtOnceAndPhotos) {
  const auto expectation_of = [](const std::vector<json>& results) {
    return expectation(parse_evaluation(evaluation(results), "r.json"));
  };
  json many = result("completed", "inductive", 1, 31.4);
  many["n_way"] = 20;
  EXPECT_EQ(
      expectation_of({result("mean", "inductive", 5, 80.0), result("mean", "inductive", 1, 53.3),
                      result("completed", "inductive", 1, 62.5), result("completed", "inductive", 5, 90.4), many,
                      result("gauss-fusion", "transductive", 1, 70.0)}),
      "5 classes at once: 62 of 100 right with 1 photo per class, 90 with 5 photos per class; 20 classes at once: 31 "
      "of 100 right with 1 photo per class (completed, inductive).");
  json unbalanced = result("mean", "inductive", 1, 66.4);
  unbalanced["query_distribution"] = "dirichlet";
  unbalanced["alpha"] = 0.5;
  EXPECT_EQ(expectation_of({unbalanced}), "") << "there is no plain task";
}

TEST(KnowledgeTable, HasWhatItAddsOnTheSameEpisodesInEachTask) {
  json with = result("plda", "inductive", 1, 59.0);
  json without = result("plda:prior=none", "inductive", 1, 54.0);
  with["per_episode"] = {54.0, 64.0};
  without["per_episode"] = {50.0, 58.0};
  json parsed = evaluation({with, without, result("mean", "inductive", 1, 50.0), result("plda", "inductive", 5, 70.0)});
  parsed["findings"] = {"Knowledge explains 28 % of the variance.", "Shrinkage: 0.1 (52.10)"};
  const Evaluation read = parse_evaluation(parsed, "r.json");
  EXPECT_THAT(knowledge_table(read).columns, ElementsAre("Method", "5-way 1-shot", "5-way 5-shot"));
  EXPECT_THAT(knowledge_table(read).rows, ElementsAre(ElementsAre("plda", "+5.0 ± 2.0", "–")));
  EXPECT_THAT(knowledge_findings(read), ElementsAre("Knowledge explains 28 % of the variance."));
  parsed["findings"] = 3;
  EXPECT_THAT(parse_refusal(parsed), HasSubstr("r.json: 'findings' is 3"));
}

}  // namespace
}  // namespace protocom
