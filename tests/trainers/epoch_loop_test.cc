#include "trainers/detail/epoch_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "support/stop_at.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

using protocom::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Pulls a single number towards 3 by gradient descent on (x - 3)^2 / 2, and records the calls.
class Descent : public Trainer {
 public:
  Descent() {
    SgdOptions plain;
    plain.weight_decay = 0;
    optimizer_ = make_optimizer({x}, plain);
  }

  torch::optim::SGD& optimizer() override { return *optimizer_; }
  void begin_epoch(const Place& place) override { begun.push_back(place.epoch * 10 + place.step); }
  at::Tensor learn(const Place& /*place*/) override {
    const at::Tensor loss = (x - 3).square().sum() / 2;
    loss.backward();
    return at::tensor({poison ? std::numeric_limits<double>::quiet_NaN() : loss.item<double>(), 1.0, 2.0}, at::kDouble);
  }
  [[nodiscard]] std::string describe(const EpochSums& sums) const override {
    return fmt::format("loss {:.2f}", sums.mean_loss());
  }
  [[nodiscard]] int64_t validates_every() const override { return every; }
  std::vector<MethodScores> validate(Progress& progress) override {
    progress.start("validate", 1);
    progress.advance(1, "");
    return {{"mean", "inductive", {accuracies.at(validations++)}, {}, {}}};
  }
  void keep(int64_t epoch) override { kept.push_back(epoch); }
  nlohmann::json end_epoch(const EpochEnd& end) override {
    ends.push_back(end);
    return {};
  }
  void finish(int64_t kept_epoch) override { finished_with = kept_epoch; }
  Checkpoint snapshot() override {
    Checkpoint saved;
    saved.training = {{"x", x}};
    saved.position["validations"] = validations;
    return saved;
  }
  void restore(const Checkpoint& saved) override {
    saved.load_training({{"x", x}});
    validations = saved.position.at("validations");
  }

  at::Tensor x = torch::zeros({1}, torch::dtype(torch::kDouble).requires_grad(true));
  int64_t every = 1;
  std::vector<double> accuracies = {40, 60, 50, 60};
  bool poison = false;

  std::vector<int64_t> begun, kept;
  std::vector<EpochEnd> ends;
  size_t validations = 0;
  int64_t finished_with = -1;

 private:
  std::unique_ptr<torch::optim::SGD> optimizer_;
};

EpochLoopOptions four_epochs_of_two() {
  EpochLoopOptions options;
  options.name = "descent";
  options.schedule = {ScheduleShape::kStep, 0.1, 4, {0.5}};
  options.steps = 2;
  options.chosen_by = {"mean"};
  options.made_by = {{"epochs", 4}};
  return options;
}

EpochLoopResult run(Descent& descent, const EpochLoopOptions& options, Progress& progress = Progress::none()) {
  return EpochLoop(descent, options, progress).run();
}

TEST(EpochLoop, KeepsTheFirstOfTheBestEpochsByValidation) {
  Descent descent;
  const EpochLoopResult result = run(descent, four_epochs_of_two());
  EXPECT_THAT(descent.kept, ElementsAre(1, 2)) << "an equal one later is not better";
  EXPECT_EQ(result.kept_epoch, 2);
  EXPECT_EQ(result.best_accuracy, 60);
  EXPECT_EQ(result.epochs, 4);
  EXPECT_EQ(descent.finished_with, 2);
}

TEST(EpochLoop, KeepsTheLastEpochWhenNothingChooses) {
  Descent never;
  never.every = 0;
  EXPECT_EQ(run(never, four_epochs_of_two()).kept_epoch, 4);
  EXPECT_THAT(never.kept, ElementsAre(4));
  Descent ignored;
  EpochLoopOptions options = four_epochs_of_two();
  options.chosen_by.clear();
  EXPECT_EQ(run(ignored, options).kept_epoch, 4);
  EXPECT_EQ(ignored.validations, 4U);
  EXPECT_THAT(ignored.kept, ElementsAre(4));
}

TEST(EpochLoop, TheStartCanBeTheBest) {
  Descent descent;
  descent.accuracies = {90, 60, 50, 60, 70};
  EpochLoopOptions options = four_epochs_of_two();
  options.start = StartCounts::kYes;
  EXPECT_EQ(run(descent, options).kept_epoch, 0);
  EXPECT_THAT(descent.kept, ElementsAre(0));
  EXPECT_EQ(descent.ends.front().epoch, 0);
}

TEST(EpochLoop, ValidatesEverySoOftenAndAfterTheLastEpoch) {
  Descent descent;
  descent.every = 3;
  run(descent, four_epochs_of_two());
  std::vector<int64_t> validated;
  for (const EpochEnd& end : descent.ends) {
    if (!end.validation.empty()) validated.push_back(end.epoch);
  }
  EXPECT_THAT(validated, ElementsAre(3, 4));
}

TEST(EpochLoop, FollowsTheScheduleAndSumsTheStepsOfAnEpoch) {
  Descent descent;
  run(descent, four_epochs_of_two());
  ASSERT_EQ(descent.ends.size(), 4U);
  EXPECT_DOUBLE_EQ(descent.ends[1].learning_rate, 0.1);
  EXPECT_DOUBLE_EQ(descent.ends[2].learning_rate, 0.01);
  EXPECT_DOUBLE_EQ(descent.ends[3].sums.count, 4) << "two steps of two";
  EXPECT_DOUBLE_EQ(descent.ends[3].sums.accuracy(), 0.5);
  // The first step: loss 9 / 2; Nesterov's first step is (1 + 0.9) times the gradient -3: x = 0.57, loss 2.43^2 / 2.
  EXPECT_NEAR(descent.ends[0].sums.loss, 4.5 + 2.43 * 2.43 / 2, 1e-12);
}

TEST(EpochLoop, GoesOnToTheSameBitsAfterAStopAtAnyStep) {
  Descent whole;
  const EpochLoopResult expected = run(whole, four_epochs_of_two());
  const TempDir folder;
  EpochLoopOptions options = four_epochs_of_two();
  options.files.out = folder / "x.npz";
  options.files.resume = Resume::kIfThere;
  for (int64_t step = 1; step <= 8; ++step) {
    Descent descent;
    StopSignal signal;
    testing::StopAt stop(signal, step);
    options.files.stop = &signal;
    EXPECT_THROW(run(descent, options, stop), Interrupted) << step;
  }
  Descent rest;
  options.files.stop = nullptr;
  const EpochLoopResult result = run(rest, options);
  EXPECT_TRUE(rest.x.equal(whole.x));
  EXPECT_EQ(result.kept_epoch, expected.kept_epoch);
  EXPECT_EQ(result.best_accuracy, expected.best_accuracy);
  EXPECT_EQ(result.last.loss, expected.last.loss);
  std::ifstream log(options.files.log());
  std::vector<int64_t> epochs;
  for (std::string line; std::getline(log, line);) epochs.push_back(nlohmann::json::parse(line).at("epoch"));
  EXPECT_THAT(epochs, ElementsAre(1, 2, 3, 4));
}

TEST(EpochLoop, TellsWhatTheLogSaysOfEveryEpoch) {
  const TempDir folder;
  Descent descent;
  EpochLoopOptions options = four_epochs_of_two();
  options.files.out = folder / "x.npz";
  std::vector<nlohmann::json> told;
  options.files.on_epoch = [&](const nlohmann::json& epoch) { told.push_back(epoch); };
  run(descent, options);
  std::ifstream log(options.files.log());
  std::vector<nlohmann::json> logged;
  for (std::string line; std::getline(log, line);) logged.push_back(nlohmann::json::parse(line));
  EXPECT_EQ(told, logged);
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told.front().at("epoch"), 1);
  EXPECT_DOUBLE_EQ(told.front().at("loss"), descent.ends.front().sums.mean_loss());
}

TEST(EpochLoop, GoesOnBehindTheEpochWhoseListenerEndedIt) {
  const TempDir folder;
  EpochLoopOptions options = four_epochs_of_two();
  options.files.out = folder / "x.npz";
  options.files.resume = Resume::kIfThere;
  options.files.on_epoch = [](const nlohmann::json& epoch) {
    if (epoch.at("epoch") == 2) throw std::runtime_error("enough");
  };
  Descent ended;
  EXPECT_THROW(run(ended, options), std::runtime_error);
  options.files.on_epoch = {};
  Descent rest;
  run(rest, options);
  EXPECT_EQ(rest.begun.front(), 20) << "the two epochs before are saved";
  Descent whole;
  run(whole, four_epochs_of_two());
  EXPECT_TRUE(rest.x.equal(whole.x));
}

/// Requests a stop as soon as the last step before a validation is done and saved: the validation notices it.
class StoppedInValidation : public Descent {
 public:
  explicit StoppedInValidation(StopSignal& signal) : signal_(signal) {}
  std::vector<MethodScores> validate(Progress& progress) override {
    signal_.request(SIGTERM);
    return Descent::validate(progress);
  }

 private:
  StopSignal& signal_;
};

TEST(EpochLoop, HearsAStopWithinAValidationAndRepeatsItWhole) {
  Descent whole;
  run(whole, four_epochs_of_two());
  const TempDir folder;
  EpochLoopOptions options = four_epochs_of_two();
  options.files.out = folder / "x.npz";
  options.files.resume = Resume::kIfThere;
  StopSignal signal;
  options.files.stop = &signal;
  StoppedInValidation stopped(signal);
  EXPECT_THROW(run(stopped, options), Interrupted);
  EXPECT_TRUE(stopped.ends.empty());
  Descent rest;
  options.files.stop = nullptr;
  run(rest, options);
  EXPECT_THAT(rest.begun.front(), 2) << "epoch 0, both steps done";
  EXPECT_EQ(rest.ends.size(), 4U);
  EXPECT_EQ(rest.ends.front().sums.loss, whole.ends.front().sums.loss);
  EXPECT_TRUE(rest.x.equal(whole.x));
}

TEST(EpochLoop, NamesEpochAndStepOfALossThatIsNotFinite) {
  Descent descent;
  descent.poison = true;
  try {
    run(descent, four_epochs_of_two());
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the loss is not finite at epoch 1, step 1 of 2"));
    EXPECT_THAT(error.what(), HasSubstr("seed 1"));
  }
  EXPECT_EQ(descent.x.item<double>(), 0) << "no step was taken";
}

}  // namespace
}  // namespace protocom
