#include "eval/tune.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "eval/fit.h"
#include "fewshot/methods.h"
#include "io/artefact.h"
#include "io/files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "support/toy_features.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Returns the value that a label sets, or `otherwise`.
double value_in(const std::string& label, const std::string& parameter, double otherwise) {
  const size_t at = label.find(":" + parameter + "=");
  return at == std::string::npos ? otherwise : std::stod(label.substr(at + parameter.size() + 2));
}

/// A peak at sharpness 20 and 3 steps; records every setting that was requested.
struct Peak {
  TriedSetting operator()(const std::string& label) {
    asked.push_back(label);
    const double off = std::abs(std::log2(value_in(label, "sharpness", 10) / 20)) +
                       std::abs(std::log2(value_in(label, "steps", 10) / 3));
    return {label, {80 - off, 0}, 0};
  }
  std::vector<std::string> asked;
};

TEST(WalkSettings, FindsAPeakParameterByParameterAndAsksForNothingTwice) {
  Peak peak;
  const TunedMethod found = walk_settings("soft-k-means:transform=none", 50, std::ref(peak));
  EXPECT_EQ(found.chosen().method, "soft-k-means:sharpness=20:steps=3:transform=none");
  EXPECT_DOUBLE_EQ(found.chosen().accuracy.value, 80);
  EXPECT_EQ(found.tried.front().method, "soft-k-means:transform=none") << "where the walk begins";
  EXPECT_EQ(std::set<std::string>(peak.asked.begin(), peak.asked.end()).size(), peak.asked.size());
  for (const std::string& label : peak.asked) EXPECT_THAT(label, HasSubstr("transform=none"));
}

TEST(WalkSettings, GoesBackToADefaultThatAnotherParameterMadeBetter) {
  // Sharpness 20 is best with 10 steps, 10 (the default) with 3.
  const auto measure = [](const std::string& label) {
    const double sharpness = value_in(label, "sharpness", 10);
    const bool few = value_in(label, "steps", 10) == 3;
    const double accuracy = few ? (sharpness == 10 ? 73 : 72) : (sharpness == 20 ? 71 : 70);
    return TriedSetting{label, {accuracy, 0}, 0};
  };
  EXPECT_EQ(walk_settings("soft-k-means:transform=l2n", 50, measure).chosen().method,
            "soft-k-means:steps=3:transform=l2n");
}

TEST(WalkSettings, StopsAtTheBudgetAndKeepsTheFirstOfEquals) {
  const auto equal = [](const std::string& label) { return TriedSetting{label, {50, 1}, 0}; };
  const TunedMethod found = walk_settings("tim", 4, equal);
  EXPECT_EQ(found.tried.size(), 4U);
  EXPECT_EQ(found.best, 0U);
  EXPECT_EQ(walk_settings("mean", 4, equal).tried.size(), 1U) << "has nothing to try";
  EXPECT_THROW(walk_settings("tim", 0, equal), UsageError);
}

std::vector<EvaluationTask> tasks_on(const FeatureSet& features, Split split) {
  TaskOptions options;
  options.shape = {5, 1, 4};
  options.shots = {"1", "2"};
  options.split = split;
  options.episodes = 10;
  return draw_tasks(features, options);
}

TEST(Tune, ReachesWhatEvaluatingItsChoiceGives) {
  const auto world = testing::toy_world();
  const auto tasks = tasks_on(world.features, Split::kVal);
  TuneOptions options;
  options.methods = {"soft-k-means", "simple-shot"};
  options.budget = 5;
  const auto tuned = tune({world.features}, tasks, options, Progress::none());
  ASSERT_EQ(tuned.size(), 2U);
  EXPECT_EQ(tuned[0].tried.size(), 5U);
  for (const TunedMethod& method : tuned) {
    ScoringOptions evaluation;
    evaluation.methods = make_methods({method.chosen().method});
    double sum = 0;
    for (const EvaluationTask& task : tasks)
      sum += estimate(evaluate({world.features}, task.lists[0], evaluation, Progress::none())[0].accuracy).value;
    EXPECT_NEAR(method.chosen().accuracy.value, sum / 2, 1e-9);
    for (const TriedSetting& one : method.tried) EXPECT_LE(one.accuracy.value, method.chosen().accuracy.value);
  }
}

/// Returns the accuracy of a fitted method on all tasks together.
double accuracy_of(const FittedMethod& fitted, const FeatureSet& features, const std::vector<EvaluationTask>& tasks) {
  ScoringOptions evaluation;
  evaluation.methods = {fitted.method};
  double sum = 0;
  for (const EvaluationTask& task : tasks)
    sum += estimate(evaluate({features}, task.lists[0], evaluation, Progress::none())[0].accuracy).value;
  return sum / static_cast<double>(tasks.size());
}

TEST(Tune, FitsAMethodThatHasNoFileForEverySettingWithoutTheValClasses) {
  const auto world = testing::toy_world();
  const auto tasks = tasks_on(world.features, Split::kVal);
  TuneOptions options;
  options.methods = {"vfsl:hidden=8:steps=40"};
  options.budget = 3;
  const TunedMethod tuned = tune({world.features}, tasks, options, Progress::none()).front();
  ASSERT_EQ(tuned.tried.size(), 3U);
  EXPECT_EQ(tuned.tried[1].method, "vfsl:ways=5:hidden=8:steps=40");
  for (const TriedSetting& one : tuned.tried) {
    FitRecipe fitting;
    fitting.method = one.method;
    fitting.sees_val = false;
    const FittedMethod fitted = fit_method({world.features}, fitting, Progress::none());
    EXPECT_NEAR(one.accuracy.value, accuracy_of(fitted, world.features, tasks), 1e-9) << one.method;
  }
}

TEST(Tune, FitsItsChoiceWithTheValClasses) {
  const auto world = testing::toy_world();
  TuneOptions options;
  options.methods = {"vfsl:hidden=8:steps=40", "simple-shot"};
  options.budget = 2;
  const EvaluateInputs inputs{world.features};
  const auto tuned = tune(inputs, tasks_on(world.features, Split::kVal), options, Progress::none());
  const std::vector<FittedMethod> fitted = fit_chosen(inputs, tuned, options, Progress::none());
  ASSERT_EQ(fitted.size(), 1U) << "simple-shot needs no fitting";
  EXPECT_EQ(fitted[0].method->label(), tuned[0].chosen().method);
  const MethodState state = fitted[0].method->state();
  const MethodState expected =
      fit_method({world.features}, {tuned[0].chosen().method}, Progress::none()).method->state();
  for (size_t i = 0; i < state.tensors.size(); ++i)
    EXPECT_TRUE(tensor_of(state.tensors[i].second).equal(tensor_of(expected.tensors[i].second)))
        << state.tensors[i].first;
}

TEST(Tune, LeavesWhatAFileWasFittedWithAsItIs) {
  const auto world = testing::toy_world();
  FitRecipe fitting;
  fitting.method = "restore-net:batch=16:steps=30";
  TuneOptions options;
  options.methods = {"restore-net"};
  options.fitted = {fit_method({world.features}, fitting, Progress::none())};
  const TunedMethod tuned =
      tune({world.features}, tasks_on(world.features, Split::kVal), options, Progress::none()).front();
  EXPECT_EQ(tuned.tried.size(), 3U) << "the share alone counts in answering";
  for (const TriedSetting& one : tuned.tried) EXPECT_THAT(one.method, HasSubstr(":steps=30:batch=16"));
}

TEST(Tune, RefusesNovelClasses) {
  const auto world = testing::toy_world();
  TuneOptions options;
  options.methods = {"simple-shot"};
  EXPECT_THAT(
      message_of([&] { tune({world.features}, tasks_on(world.features, Split::kNovel), options, Progress::none()); }),
      HasSubstr("use --split val"));
}

TEST(Tune, WritesItsChoiceForOthersToRead) {
  const testing::TempDir folder;
  TunedMethod method;
  method.tried = {{"tim", {50, 1}, 2}, {"tim:temperature=30", {51, 1}, 2}};
  method.best = 1;
  nlohmann::json file = tuned_json({method});
  file["header"] = make_header(kTunedKind, kTunedVersion, {}).to_json();
  const auto said_of = [&](const nlohmann::json& changed) {
    write_file(folder / "tuned.json", changed.dump());
    return message_of([&] { read_chosen(folder / "tuned.json"); });
  };
  EXPECT_EQ(said_of(file), "(no Error)");
  EXPECT_EQ(read_chosen(folder / "tuned.json"), std::vector<std::string>{"tim:temperature=30"});
  nlohmann::json later = file;
  later["header"]["format_version"] = 99;
  EXPECT_THAT(said_of(later), AllOf(HasSubstr("tuned.json"), HasSubstr("version 99")));
  nlohmann::json unknown = file;
  unknown["chosen"] = {"tim:stepz=3"};
  EXPECT_THAT(said_of(unknown), AllOf(HasSubstr("tuned.json: "), HasSubstr("stepz")));
  write_file(folder / "other.json", "{}");
  EXPECT_THAT(message_of([&] { read_chosen(folder / "other.json"); }), HasSubstr("protocom tune --out"));
}

TEST(EveryValueToTry, IsTakenByItsMethod) {
  int taken = 0;
  for (const MethodSpec* spec : method_specs()) {
    const std::string plain = make_method(spec->name)->label();
    for (const auto& [parameter, values] : parameter_tries(spec->name)) {
      for (const ParameterValue& value : values) {
        const std::string setting = parameter + "=" + to_string(value);
        const std::string label = make_method(spec->name + ":" + setting)->label();
        EXPECT_TRUE(label == plain || label == spec->name + ":" + setting) << label << " was made with " << setting;
        taken += label == plain ? 0 : 1;
      }
    }
  }
  EXPECT_GT(taken, 100) << "values other than the defaults";
}

}  // namespace
}  // namespace protocom
