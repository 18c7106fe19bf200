#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include "cli/program.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kKills = 20;
constexpr const char* kEveryStep = "0.001";  // s

/// Waits until `met` returns true, at most a minute.
bool wait_until(const std::function<bool()>& met) {
  for (int i = 0; i < 60000 && !met(); ++i) std::this_thread::sleep_for(milliseconds(1));
  return met();
}

bool any_changed(const fs::path& path, fs::file_time_type since) {
  std::error_code error;
  const auto now = fs::last_write_time(path, error);
  return !error && now != since;
}

fs::file_time_type time_of(const fs::path& path) {
  std::error_code ignored;
  return fs::last_write_time(path, ignored);
}

void expect_no_leftovers(const fs::path& folder) {
  EXPECT_THAT(files_below(folder), Each(AllOf(Not(HasSubstr(".tmp-")), Not(HasSubstr(".part-")))));
}

size_t lines_of(const fs::path& path) {
  const std::string text = read_text(path);
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Trainings of a few hundred quick steps on images and features made once.
class Interruption : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempDir>();
    for (std::vector<std::string> arguments : std::vector<std::vector<std::string>>{
             {"synth", "photos", "--image-size", "16", "--images-per-class", "17", "--base", "8", "--val", "5",
              "--novel", "3"},
             {"pack", "photos", "--split", "photos/split.csv", "--image-size", "16", "--out", "images.pack"},
             {"knowledge", "table", "--csv", "photos/attributes.csv", "--embedding-dim", "4", "--split",
              "photos/split.csv", "--out", "knowledge.npz"},
             {"pretrain", "--images", "images.pack", "--architecture", "conv4", "--epochs", "1", "--out", "quick.npz"},
             {"extract", "--images", "images.pack", "--backbone", "quick.npz", "--out", "features.npz"}}) {
      arguments.insert(arguments.end(), {"--quiet", "--threads", "1"});
      run(arguments);
    }
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static void run(const std::vector<std::string>& arguments) {
    const Outcome outcome = protocom(folder_->path(), arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  /// Each training works in a folder of its own, so that all artefacts have the same name and header.
  static fs::path place(const std::string& name) {
    fs::create_directories(*folder_ / name);
    return *folder_ / name;
  }

  /// Returns a command line; a checkpoint after every step takes longer than the step.
  using Recipe = std::vector<std::string> (*)(int epochs, const std::string& checkpoint_seconds);

  static std::vector<std::string> pretraining(int epochs, const std::string& checkpoint_seconds = kEveryStep) {
    return {"pretrain",
            "--images",
            "../images.pack",
            "--out",
            "m.npz",
            "--architecture",
            "conv4",
            "--epochs",
            number(epochs),
            "--batch",
            "12",
            "--lr",
            "0.02",
            "--val-episodes",
            "10",
            "--resume",
            "--quiet",
            "--threads",
            "1",
            "--checkpoint-every",
            checkpoint_seconds};
  }
  static std::vector<std::string> completion(int epochs, const std::string& checkpoint_seconds) {
    return {"complete",
            "--features",
            "../features.npz",
            "--knowledge",
            "../knowledge.npz",
            "--out",
            "m.npz",
            "--epochs",
            number(epochs),
            "--batches",
            "10",
            "--lr",
            "0.001",
            "--val-episodes",
            "10",
            "--resume",
            "--quiet",
            "--threads",
            "1",
            "--checkpoint-every",
            checkpoint_seconds};
  }
  static std::string number(int value) { return std::to_string(value); }

  /// Runs one training to its end, and kills another one at random moments until it has been killed `kKills` times.
  static void compare_under_fire(const Recipe& recipe, int epochs, const std::string& name) {
    const fs::path whole = place(name + "-whole"), killed = place(name + "-killed");
    const Outcome outcome = protocom(whole, recipe(epochs, "60"));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    ASSERT_NO_FATAL_FAILURE(kill_often(recipe, epochs, killed));
    const Outcome last = protocom(killed, recipe(epochs, "60"));
    ASSERT_EQ(last.exit_code, 0) << last.err;
    EXPECT_TRUE(read_text(killed / "m.npz") == read_text(whole / "m.npz")) << "other bytes";
    EXPECT_EQ(lines_of(killed / "m.npz.jsonl"), static_cast<size_t>(epochs));
    expect_no_leftovers(killed);
  }

  static void kill_often(const Recipe& recipe, int epochs, const fs::path& folder) {
    std::mt19937 random(20211);
    const fs::path state = folder / "m.npz.last";
    auto until_first_save = milliseconds(1);
    for (int kill = 0; kill < kKills; ++kill) {
      const auto before = time_of(state);
      const auto started = std::chrono::steady_clock::now();
      Program program(folder, recipe(epochs, kEveryStep));
      // Half of the kills come after some more progress was saved, the others at any time: at the start, or during the
      // first save.
      if (kill % 2 == 0) {
        if (!wait_until([&] { return any_changed(state, before); })) {
          program.kill();
          FAIL() << "after " << kill << " kills it saved nothing in a minute: " << program.wait().err;
        }
        until_first_save = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - started);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 15000));
      } else {
        std::this_thread::sleep_for(until_first_save * static_cast<int>(random() % 110) / 100);
      }
      program.kill();
      const Outcome outcome = program.wait();
      ASSERT_EQ(outcome.exit_code, 128 + SIGKILL)
          << "it ended before it was killed " << kKills << " times: " << outcome.err;
    }
  }

  static std::unique_ptr<TempDir> folder_;
};
std::unique_ptr<TempDir> Interruption::folder_;

TEST_F(Interruption, APreTrainingKilledTwentyTimesEndsWithTheSameBytes) {
  compare_under_fire(&pretraining, 50, "pretrain");
}

TEST_F(Interruption, ACompletionKilledTwentyTimesEndsWithTheSameBytes) {
  compare_under_fire(&completion, 50, "complete");
}

TEST_F(Interruption, ASignalSavesTheStateAndExitsWithItsNumber) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const fs::path folder = place("signal-" + number(signal));
    Program program(folder, pretraining(500));
    ASSERT_TRUE(wait_until([&] { return fs::exists(folder / "m.npz.last"); }));
    std::this_thread::sleep_for(milliseconds(50));
    program.signal(signal);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.exit_code, 128 + signal);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("stopped by SIG"), HasSubstr("m.npz.last"), HasSubstr("--resume")));
    expect_no_leftovers(folder);
  }
}

#ifdef PROTOCOM_SANITIZED
TEST_F(Interruption, AFaultIsLeftToTheSanitizersReport) {
  const fs::path folder = place("fault");
  Program program(folder, pretraining(500));
  ASSERT_TRUE(wait_until([&] { return fs::exists(folder / "m.npz.last"); }));
  program.signal(SIGSEGV);
  const Outcome outcome = program.wait();
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("Sanitizer"));
}
#endif

TEST_F(Interruption, ASecondSignalEndsATrainingInTheMiddleOfItsStep) {
  const fs::path folder = place("impatient");
  std::vector<std::string> slow = pretraining(500, "60");
  *(std::find(slow.begin(), slow.end(), "--architecture") + 1) = "resnet12-wide";
  *(std::find(slow.begin(), slow.end(), "--batch") + 1) = "128";
  Program program(folder, slow);
  ASSERT_TRUE(wait_until([&] { return fs::exists(folder / "m.npz.last"); }));
  // Two signals before the program checks count as one.
  for (int i = 0; i < 3000 && program.runs(); ++i) {
    program.signal(SIGINT);
    std::this_thread::sleep_for(milliseconds(20));
  }
  ASSERT_FALSE(program.runs()) << "after a minute of signals";
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 128 + SIGINT);
  EXPECT_THAT(outcome.err, HasSubstr("ended by SIGINT"));
  EXPECT_THAT(files_below(folder), ElementsAre("m.npz.last"));
}

TEST_F(Interruption, AStoppedTrainingIsNotOverwrittenByAccident) {
  const fs::path folder = place("precious");
  Program program(folder, pretraining(500));
  ASSERT_TRUE(wait_until([&] { return lines_of(folder / "m.npz.jsonl") > 1; }));
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait().exit_code, 128 + SIGTERM);
  std::vector<std::string> again = pretraining(500);
  again.erase(std::find(again.begin(), again.end(), "--resume"));
  const Outcome refused = protocom(folder, again);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("unfinished training"), HasSubstr("--resume")));
}

TEST_F(Interruption, ADamagedStateIsReportedAndThePreviousOneUsed) {
  const fs::path fine = place("fine"), damaged = place("damaged");
  ASSERT_EQ(protocom(fine, pretraining(40, "60")).exit_code, 0);
  Program program(damaged, pretraining(40));
  ASSERT_TRUE(wait_until([&] { return lines_of(damaged / "m.npz.jsonl") > 3; }));
  program.kill();
  program.wait();
  const fs::path state = damaged / "m.npz.last";
  fs::resize_file(state, fs::file_size(state) / 2);
  std::vector<std::string> again = pretraining(40, "60");
  again.erase(std::find(again.begin(), again.end(), "--quiet"));
  const Outcome resumed = protocom(damaged, again);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("m.npz.last"), HasSubstr("using the state before it")));
  EXPECT_TRUE(read_text(damaged / "m.npz") == read_text(fine / "m.npz")) << "other bytes";
}

TEST_F(Interruption, CtrlCEndsOtherCommandsAtOnceWithoutAnythingHalfDone) {
  Program program(folder_->path(), {"synth", "many", "--image-size", "64", "--images-per-class", "2000"});
  const auto has_begun = [&] {
    return std::any_of(fs::directory_iterator(folder_->path()), fs::directory_iterator(),
                       [](const auto& entry) { return entry.path().filename().string().rfind("many.tmp-", 0) == 0; });
  };
  ASSERT_TRUE(wait_until(has_begun));
  std::this_thread::sleep_for(milliseconds(100));
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().exit_code, 128 + SIGINT);
  for (const auto& entry : fs::directory_iterator(folder_->path()))
    EXPECT_THAT(entry.path().filename().string(), Not(StartsWith("many")));
}

TEST_F(Interruption, ARunGoesOnWhereItWasStopped) {
  write_text(*folder_ / "run.toml", R"(
out = "run"
[synth]
image-size = 16
images-per-class = 10
base = 8
val = 2
novel = 2
[pack]
image-size = 16
[pretrain]
architecture = "conv4"
batch = 10
lr = 0.02
epochs = 30
val-episodes = 5
checkpoint-every = 0.005
)");
  const std::vector<std::string> command = {"run", "run.toml", "--quiet", "--threads", "1"};
  Program program(folder_->path(), command);
  ASSERT_TRUE(wait_until([&] { return fs::exists(*folder_ / "run/backbone.npz.last"); }));
  program.signal(SIGTERM);
  const Outcome stopped = program.wait();
  EXPECT_EQ(stopped.exit_code, 128 + SIGTERM);
  EXPECT_THAT(stopped.err, HasSubstr("run the same command again to continue"));
  const Outcome resumed = protocom(folder_->path(), command);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("== pretrain: resumes where it was interrupted"));
  EXPECT_EQ(lines_of(*folder_ / "run/backbone.npz.jsonl"), 30u);
}

}  // namespace
}  // namespace protocom::testing
