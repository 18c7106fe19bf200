// Features, knowledge, methods and evaluations through the installed headers alone.
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>
#include <type_traits>

#include "api/api_support.h"
#include "protocom/evaluate.h"
#include "protocom/features.h"
#include "protocom/fit.h"
#include "protocom/knowledge.h"
#include "protocom/method.h"
#include "protocom/own_method.h"
#include "protocom/process.h"
#include "protocom/recognizer_parts.h"
#include "protocom/version.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(RecognizerParts, MomentsAreStatedByAWordAndNotByABool) {
  RecognizerParts parts;
  EXPECT_EQ(parts.moments.by, "auto");
  parts.moments = "off";
  EXPECT_EQ(parts.moments.by, "off");
  EXPECT_FALSE((std::is_assignable_v<decltype(parts.moments)&, bool>));
  EXPECT_FALSE((std::is_assignable_v<decltype(parts.moments)&, char>));
}

class ApiValues : public ApiTest {
 protected:
  FeatureSet own_features() const { return FeatureSet::read(features(file("features.npz"))); }
};

TEST(ApiVersion, HeadersAndLibraryAreOfOneVersion) {
  EXPECT_STREQ(version(), PROTOCOM_VERSION);
  EXPECT_EQ(PROTOCOM_VERSION_NUMBER,
            PROTOCOM_VERSION_MAJOR * 1000000 + PROTOCOM_VERSION_MINOR * 1000 + PROTOCOM_VERSION_PATCH);
}

TEST(ApiClassifier, AnswersQueriesOfOwnFeatures) {
  const Classifier classifier("mean", {axes(), 4}, classes_of_axes());
  EXPECT_THAT(classifier.predict({queries_of_axes(), 4}), ElementsAre(0, 1, 2));
  const Matrix shares = classifier.probabilities({queries_of_axes(), 4});
  ASSERT_EQ(shares.rows, 3);
  ASSERT_EQ(shares.columns, 3);
  for (int64_t i = 0; i < 3; ++i) EXPECT_NEAR(shares(i, 0) + shares(i, 1) + shares(i, 2), 1, 1e-6);
  EXPECT_THAT(classifier.class_names(), ElementsAre("0", "1", "2"));
  EXPECT_EQ(classifier.dim(), 4);
}

TEST(ApiClassifier, LabelsMayBeNamesAndAnswersAreTheirs) {
  const std::vector<std::string> labels = {"wren", "wren", "wren", "wren", "owl", "owl",
                                           "owl",  "owl",  "jay",  "jay",  "jay", "jay"};
  const Classifier classifier("plda", {axes(), 4}, labels);
  EXPECT_THAT(classifier.class_names(), ElementsAre("jay", "owl", "wren"));
  EXPECT_THAT(classifier.predict({queries_of_axes(), 4}), ElementsAre(2, 1, 0));
}

TEST(ApiClassifier, WideLabelsAndWideFeaturesAnswerTheSame) {
  const std::vector<float> floats = axes();
  const std::vector<double> doubles(floats.begin(), floats.end());
  const std::vector<int64_t> longs = classes_of_axes();
  const std::vector<int32_t> ints(longs.begin(), longs.end());
  const std::vector<float> asked = queries_of_axes();
  const std::vector<double> asked_doubles(asked.begin(), asked.end());
  const Matrix expected = Classifier("plda", {floats, 4}, longs).scores({asked, 4});
  const Matrix found = Classifier("plda", {doubles, 4}, ints).scores({asked_doubles, 4});
  EXPECT_EQ(found.values, expected.values);
}

TEST(ApiClassifier, KeepsNothingOfTheCallersMemory) {
  std::vector<float> rows = axes();
  const Classifier classifier("mean", {rows, 4}, classes_of_axes());
  const Matrix expected = classifier.scores({queries_of_axes(), 4});
  std::fill(rows.begin(), rows.end(), 0.0F);
  EXPECT_EQ(classifier.scores({queries_of_axes(), 4}).values, expected.values);
}

TEST(ApiClassifier, ManyThreadsMayAskAtOnce) {
  const Classifier classifier("plda", {axes(), 4}, classes_of_axes());
  const Matrix expected = classifier.scores({queries_of_axes(), 4});
  std::vector<std::thread> threads;
  std::vector<Matrix> found(4);
  for (Matrix& one : found) threads.emplace_back([&] { one = classifier.scores({queries_of_axes(), 4}); });
  for (std::thread& one : threads) one.join();
  for (const Matrix& one : found) EXPECT_EQ(one.values, expected.values);
}

TEST(ApiMethods, AreListedWithTheirParameters) {
  std::set<std::string> names;
  for (const MethodInfo& one : methods()) names.insert(one.name);
  EXPECT_TRUE(names.count("plda") == 1 && names.count("tim") == 1 && names.count("mean") == 1);
  EXPECT_EQ(method_label("mean:gamma=20"), "mean:gamma=20");
  for (const MethodInfo& one : methods()) {
    if (one.name == "mean") {
      EXPECT_THAT(one.parameters, Not(IsEmpty()));
    }
  }
}

TEST_F(ApiValues, FeaturesGoThroughAFileUnchanged) {
  FeatureSetOptions options;
  options.class_names = {"wren", "owl", "jay"};
  options.split = {"base", "val", "novel"};
  const FeatureSet made({axes(), 4}, classes_of_axes(), options);
  EXPECT_EQ(made.rows(), 12);
  EXPECT_EQ(made.dim(), 4);
  made.save(file("own.npz"));
  const FeatureSet read = FeatureSet::read(file("own.npz"));
  EXPECT_EQ(std::vector<float>(read.features(), read.features() + 48), axes());
  EXPECT_EQ(std::vector<int64_t>(read.labels(), read.labels() + 12), classes_of_axes());
  EXPECT_EQ(read.class_names(), options.class_names);
  EXPECT_EQ(read.split(), options.split);
  EXPECT_EQ(read.ids().back(), "11");
}

TEST_F(ApiValues, WarningsAreValuesOfWhatTheyAreAbout) {
  std::vector<float> rows = axes();
  std::copy_n(rows.begin(), 4, rows.begin() + 4);
  const FeatureSet twice({rows, 4}, classes_of_axes());
  ASSERT_THAT(twice.warnings(), SizeIs(1));
  EXPECT_THAT(twice.warnings()[0], HasSubstr("duplicate features"));
  EXPECT_THAT(FeatureSet({axes(), 4}, classes_of_axes()).warnings(), IsEmpty());
}

TEST_F(ApiValues, KnowledgeIsMadeOfATableAndKept) {
  const Knowledge known({"wren", "owl"}, {"small", "awake at night"}, {std::vector<float>{1, 0, 0.25F, 1}, 2});
  known.save(file("knowledge.npz"));
  const Knowledge read = Knowledge::read(file("knowledge.npz"));
  EXPECT_THAT(read.classes(), ElementsAre("owl", "wren"));
  EXPECT_EQ(read.association().rows, 2);
}

TEST_F(ApiValues, AFittedMethodAnswersAndIsKept) {
  const FeatureSet set = own_features();
  const Fitted fitted = fit("plda", set);
  EXPECT_EQ(fitted.dim(), 6);
  EXPECT_THAT(fitted.trained_on(), ElementsAre("0", "1", "2"));
  fitted.save(file("plda.npz"));
  const Fitted read = Fitted::read(file("plda.npz"));
  ClassifierOptions with, with_read;
  with.fitted = {fitted};
  with_read.fitted = {read};
  const Rows rows(set.features() + 36 * 6, 36, 6);
  const Labels labels(std::vector<int64_t>(36, 0));
  std::vector<int64_t> numbers;
  for (int i = 0; i < 36; ++i) numbers.push_back(i / 12);
  const Matrix first = Classifier("plda", rows, numbers, with).scores(rows);
  EXPECT_EQ(Classifier("plda", rows, numbers, with_read).scores(rows).values, first.values);
  EXPECT_NE(Classifier("plda", rows, numbers).scores(rows).values, first.values);
  EXPECT_NO_THROW(static_cast<void>(fitted.space()));
}

TEST_F(ApiValues, EpisodesAreDrawnKeptAndEvaluated) {
  const FeatureSet set = own_features();
  EpisodeOptions options;
  options.shape.n_way = 3;
  options.shape.n_query = 5;
  options.count = 20;
  const Episodes drawn(set, options);
  EXPECT_EQ(drawn.size(), 20);
  EXPECT_EQ(drawn.task(), "3-way 1-shot");
  EXPECT_THAT(drawn[0].classes, SizeIs(3));
  drawn.save(file("episodes.json"));
  EXPECT_EQ(Episodes::read(file("episodes.json"), set).hash(), drawn.hash());
  EvaluateOptions how;
  how.methods = {"mean", "plda", "proto-net"};
  const Results results = evaluate(drawn, how);
  ASSERT_THAT(results.results, SizeIs(3));
  const MethodResult& plda = results.of("plda");
  EXPECT_THAT(plda.per_episode, SizeIs(20));
  ASSERT_TRUE(plda.gain);
  EXPECT_NEAR(plda.gain->value, plda.accuracy.value - results.of("mean").accuracy.value, 1e-9);
  EXPECT_FALSE(results.of("mean").gain) << "the baseline";
  EXPECT_THAT(results.table(), HasSubstr("3-way 1-shot"));
}

TEST_F(ApiValues, TasksOfSeveralShapesStandOneAfterTheOther) {
  const FeatureSet set = own_features();
  EpisodeOptions one, five;
  one.shape.n_way = five.shape.n_way = 3;
  one.shape.n_query = five.shape.n_query = 4;
  one.count = five.count = 5;
  five.shape.k_shot = 5;
  EvaluateOptions how;
  how.methods = {"mean"};
  const Results results = evaluate({Episodes(set, one), Episodes(set, five)}, how);
  ASSERT_THAT(results.results, SizeIs(2));
  EXPECT_EQ(results.of("mean", "3-way 5-shot").task, "3-way 5-shot");
}

TEST_F(ApiValues, ProgressIsToldAndMayEndAJob) {
  const FeatureSet set = own_features();
  EpisodeOptions options;
  options.shape.n_way = 2;
  options.shape.n_query = 4;
  options.count = 5;
  EvaluateOptions how;
  how.methods = {"mean"};
  int steps = 0;
  evaluate(Episodes(set, options), how, [&](const ProgressStep& step) {
    EXPECT_LE(step.done, step.total);
    ++steps;
  });
  EXPECT_GT(steps, 1);
  struct Enough {};
  EXPECT_THROW(evaluate(Episodes(set, options), how, [](const ProgressStep&) { throw Enough(); }), Enough);
  const auto ask_again = [](const ProgressStep&) { method_label("no such method"); };
  EXPECT_THROW(evaluate(Episodes(set, options), how, ask_again), UsageError) << "what a call within a call throws";
}

/// Answers with the class whose first support is nearest.
class NearestFirst : public OwnMethod {
 public:
  explicit NearestFirst(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string name() const override { return name_; }
  void score(const OwnTask& task, float* logits) const override {
    for (int64_t q = 0; q < task.queries; ++q) {
      for (int64_t m = task.supports; m-- > 0;) {
        float sum = 0;
        for (int64_t j = 0; j < task.dim; ++j)
          sum += std::pow(task.query[q * task.dim + j] - task.support[m * task.dim + j], 2.0F);
        logits[q * task.classes + task.labels[m]] = -sum;
      }
    }
  }

 private:
  std::string name_;
};

/// Throws instead of answering.
class Careless : public OwnMethod {
 public:
  [[nodiscard]] std::string name() const override { return "careless"; }
  void score(const OwnTask&, float* logits) const override {
    if (std::isnan(value)) logits[0] = value;
    if (value > 0) throw std::domain_error("no idea");
  }
  float value = 0;
};

TEST_F(ApiValues, AMethodOfOnesOwnIsOneOfThem) {
  add_method(std::make_shared<NearestFirst>("nearest-first"));
  const Classifier classifier("nearest-first", {axes(), 4}, classes_of_axes());
  EXPECT_THAT(classifier.predict({queries_of_axes(), 4}), ElementsAre(0, 1, 2));
  EpisodeOptions options;
  options.shape.n_way = 3;
  options.shape.n_query = 5;
  options.count = 10;
  EvaluateOptions how;
  how.methods = {"mean", "nearest-first"};
  const Results results = evaluate(Episodes(own_features(), options), how);
  EXPECT_GT(results.of("nearest-first").accuracy.value, 50);
  EXPECT_EQ(results.of("nearest-first").mode, "inductive");
  EXPECT_EQ(methods().back().name, "nearest-first");
  EXPECT_THAT(said_by([] { add_method(std::make_shared<NearestFirst>("nearest-first")); }), HasSubstr("already"));
  EXPECT_THAT(said_by([] { add_method(std::make_shared<NearestFirst>("plda")); }), HasSubstr("already"));
  EXPECT_THAT(said_by([] { add_method(std::make_shared<NearestFirst>("Not:This")); }), HasSubstr("lower-case letters"));
  EXPECT_THAT(said_by([] { add_method(nullptr); }), HasSubstr("null"));
  EXPECT_THAT(said_by([] { method_label("nearest-first:steps=3"); }), HasSubstr("no parameter 'steps'"));
}

TEST(ApiOwnMethod, WhatItThrowsLeavesAsItIsAndItsLogitsAreChecked) {
  const auto careless = std::make_shared<Careless>();
  add_method(careless);
  const Classifier classifier("careless", {axes(), 4}, classes_of_axes());
  careless->value = 1;
  EXPECT_THROW(static_cast<void>(classifier.predict({queries_of_axes(), 4})), std::domain_error);
  careless->value = std::nanf("");
  EXPECT_THAT(said_by([&] { static_cast<void>(classifier.predict({queries_of_axes(), 4})); }), HasSubstr("not finite"));
}

TEST(ApiProcess, ThreadsAreSetAndAsked) {
  const int before = threads();
  set_threads(1);
  EXPECT_EQ(threads(), 1);
  set_threads(before);
  EXPECT_FALSE(std::getenv("GOMP_SPINCOUNT") == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr &&
               tune_process(Restart::kNo))
      << "without a restart something is left undone";
}

}  // namespace
}  // namespace protocom::testing
