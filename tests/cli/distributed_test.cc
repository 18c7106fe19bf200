#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/job.h"
#include "cli/program.h"
#include "support/free_port.h"
#include "support/python.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

/// Returns the largest difference between two npz files' arrays, relative to the largest value of each array, or to
/// 0.001: a convolution's bias before batch norm has no gradient except rounding errors.
double difference(const std::filesystem::path& one, const std::filesystem::path& other) {
  const std::string script =
      "import numpy\n"
      "a, b = numpy.load('" +
      one.string() + "'), numpy.load('" + other.string() +
      "')\n"
      "names = [n for n in a.files if getattr(a[n], 'dtype', numpy.dtype('S1')).kind == 'f']\n"
      "assert names and sorted(a.files) == sorted(b.files)\n"
      "print(max(float(numpy.abs(a[n] - b[n]).max() / max(numpy.abs(a[n]).max(), 1e-3)) for n in names))\n";
  return std::stod(run_python(one.parent_path(), script));
}

class Distributed : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempDir>();
    for (std::vector<std::string> arguments : std::vector<std::vector<std::string>>{
             {"synth", "photos", "--image-size", "16", "--images-per-class", "12", "--base", "8", "--val", "3",
              "--novel", "5"},
             {"pack", "photos", "--split", "photos/split.csv", "--image-size", "16", "--out", "images.pack"},
             {"knowledge", "table", "--csv", "photos/attributes.csv", "--embedding-dim", "4", "--split",
              "photos/split.csv", "--out", "knowledge.npz"},
             {"pretrain", "--images", "images.pack", "--architecture", "conv4", "--epochs", "1", "--out", "quick.npz"},
             {"extract", "--images", "images.pack", "--backbone", "quick.npz", "--out", "features.npz"},
             {"complete", "--features", "features.npz", "--knowledge", "knowledge.npz", "--epochs", "1", "--batches",
              "5", "--val-episodes", "0", "--out", "model.npz"}}) {
      arguments.insert(arguments.end(), {"--quiet", "--threads", "1"});
      const Outcome outcome = protocom(folder_->path(), arguments);
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    }
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::filesystem::path file(const std::string& name) { return folder_->path() / name; }

  /// Runs the command with each number of processes; its output is `stem` and that number.
  static void run(const std::vector<std::string>& arguments, const std::string& option, const std::string& stem,
                  const std::vector<int>& sizes) {
    for (const int size : sizes) {
      std::vector<std::string> all = arguments;
      all.insert(all.end(), {option, stem + std::to_string(size), "--quiet", "--threads", "1"});
      Job(folder_->path(), all, size).expect_success();
    }
  }

  static std::vector<std::string> pretraining(const std::string& epochs, const std::string& batch) {
    return {"pretrain", "--images", "images.pack", "--architecture", "conv4", "--epochs",    epochs,   "--batch",
            batch,      "--lr",     "0.01",        "--val-episodes", "20",    "--precision", "float32"};
  }

  static std::unique_ptr<TempDir> folder_;
};

std::unique_ptr<TempDir> Distributed::folder_;

// Bounds for float sums in a different order, propagated through a dozen steps.
constexpr double kAfterTraining = 2e-3;
constexpr double kAfterOnePass = 1e-5;

TEST_F(Distributed, PretrainingOfTwoAndFourProcessesGivesTheWeightsOfOne) {
  std::vector<std::string> arguments = pretraining("2", "24");
  arguments.emplace_back("--sync-batch-norm");
  run(arguments, "--out", "backbone", {1, 2, 4});
  EXPECT_LT(difference(file("backbone1"), file("backbone2")), kAfterTraining);
  EXPECT_LT(difference(file("backbone1"), file("backbone4")), kAfterTraining);
}

TEST_F(Distributed, WithoutSynchronisedBatchNormTheWeightsAreOthers) {
  run(pretraining("2", "24"), "--out", "plain", {1, 2});
  EXPECT_GT(difference(file("plain1"), file("plain2")), kAfterTraining);
}

TEST_F(Distributed, MetatrainingOfTwoAndFourProcessesGivesTheWeightsOfOne) {
  run({"metatrain",
       "--images",
       "images.pack",
       "--backbone",
       "quick.npz",
       "--knowledge",
       "knowledge.npz",
       "--model",
       "model.npz",
       "--epochs",
       "2",
       "--batches",
       "3",
       "--episodes",
       "4",
       "--n-query",
       "4",
       "--lr",
       "0.001",
       "--precision",
       "float32",
       "--val-episodes",
       "0"},
      "--out", "joint", {1, 2, 4});
  for (const char* other : {"joint2", "joint4"}) {
    EXPECT_LT(difference(file("joint1"), file(other)), kAfterTraining);
    EXPECT_LT(difference(file("joint1.model.npz"), file(std::string(other) + ".model.npz")), kAfterTraining);
  }
}

TEST_F(Distributed, ExtractionByThreeProcessesGivesTheFeaturesOfOne) {
  run({"extract", "--images", "images.pack", "--backbone", "quick.npz"}, "--out", "features", {1, 3});
  EXPECT_LT(difference(file("features1"), file("features3")), kAfterOnePass);
}

TEST_F(Distributed, EvaluationByThreeProcessesGivesTheAnswerOfOne) {
  run({"evaluate", "--features", "features.npz", "--knowledge", "knowledge.npz", "--model", "model.npz", "--n-way", "3",
       "--n-query", "6", "--episodes", "100", "--k-shot", "1", "--methods",
       "mean,completed,mean-fusion,gauss-fusion,simple-shot"},
      "--json", "results", {1, 2, 3});
  const auto read = [&](const char* name) {
    nlohmann::json found = nlohmann::json::parse(read_text(file(name)));
    // The command differs: it names another file.
    found.erase("command");
    found["header"]["options"].erase("json");
    return found;
  };
  const nlohmann::json one = read("results1");
  EXPECT_EQ(one["results"].size(), 5U);
  EXPECT_EQ(one["checks"]["disjoint"]["episodes"], 100);
  EXPECT_EQ(one, read("results2"));
  EXPECT_EQ(one, read("results3"));
}

TEST_F(Distributed, OneThatDiesIsNamedByTheOthersAndAnotherNumberGoesOn) {
  std::vector<std::string> arguments = pretraining("400", "24");
  arguments.insert(arguments.end(),
                   {"--out", "long", "--resume", "--quiet", "--threads", "1", "--checkpoint-every", "0.2"});
  Job job(folder_->path(), arguments, 3);
  const auto log = file("long.jsonl");
  for (int i = 0; i < 1200 && (!std::filesystem::exists(log) || std::filesystem::file_size(log) == 0); ++i)
    std::this_thread::sleep_for(milliseconds(50));
  job.process(1).kill();
  const auto killed = steady_clock::now();
  for (const size_t rank : {0, 2}) {
    const Outcome outcome = job.process(rank).wait();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("process 1 of 3 ended"));
  }
  EXPECT_LT(steady_clock::now() - killed, seconds(60));
  job.process(1).wait();

  Job rest(folder_->path(), arguments, 2);
  const auto lines = [&] {
    const std::string text = read_text(log);
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto before = lines();
  for (int i = 0; i < 1200 && lines() < before + 2; ++i) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_GE(lines(), before + 2);
  // If one process is asked to stop, the other stops too, and both exit normally.
  rest.process(1).signal(SIGTERM);
  for (const size_t rank : {0, 1}) EXPECT_EQ(rest.process(rank).wait().exit_code, 128 + SIGTERM);
}

TEST_F(Distributed, ABatchThatDoesNotDivideIsRefused) {
  std::vector<std::string> arguments = pretraining("2", "25");
  arguments.insert(arguments.end(), {"--out", "odd", "--quiet"});
  Job job(folder_->path(), arguments, 2);
  const Outcome outcome = job.process(0).wait();
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("25 images of a batch are not divisible by 2 processes"));
  job.process(1).wait();
}

TEST_F(Distributed, ProcessesThatWereStartedDifferentlyEndWithAnErrorAndWriteNothing) {
  const auto evaluation = [](const std::string& features, const std::string& episodes, const std::string& seed) {
    return std::vector<std::string>{
        "evaluate",  "--features", features,         "--episodes", episodes,    "--seed", seed,
        "--methods", "mean",       "--n-query",      "3",          "--k-shot",  "1",      "--n-way",
        "3",         "--json",     "different.json", "--quiet",    "--threads", "1"};
  };
  std::filesystem::copy_file(file("knowledge.npz"), file("other.npz"));
  const std::vector<std::pair<std::vector<std::string>, std::string>> others = {
      {evaluation("features.npz", "80", "1"), "--episodes is 80, not 100"},
      {evaluation("features.npz", "100", "2"), "--seed is 2, not 1"},
      {evaluation("other.npz", "100", "1"), "--features \"other.npz\" is another file"},
      {evaluation("missing.npz", "100", "1"), "--features \"missing.npz\" is missing"}};
  for (const auto& [other, stated] : others) {
    Job job(folder_->path(), {evaluation("features.npz", "100", "1"), other});
    const Outcome leader = job.process(0).wait(), second = job.process(1).wait();
    EXPECT_EQ(leader.exit_code, 2) << leader.err;
    EXPECT_EQ(second.exit_code, 2) << second.err;
    EXPECT_THAT(leader.err, HasSubstr("process 1 of 2 was started with other options or input files"));
    EXPECT_THAT(second.err, HasSubstr(stated));
    EXPECT_FALSE(std::filesystem::exists(file("different.json")));
  }
}

TEST_F(Distributed, OneThatFailsIsNamedWithItsReason) {
  // A folder with different features stands for a broken copy on another machine.
  const TempDir elsewhere;
  for (const char* name : {"images.pack", "quick.npz"}) std::filesystem::copy_file(file(name), elsewhere / name);
  std::filesystem::resize_file(elsewhere / "quick.npz", std::filesystem::file_size(elsewhere / "quick.npz") / 2);
  const std::vector<std::string> extraction = {"extract", "--images", "images.pack", "--backbone", "quick.npz",
                                               "--out",   "f.npz",    "--quiet",     "--threads",  "1"};
  Job job({{folder_->path(), extraction}, {elsewhere.path(), extraction}});
  const auto begun = steady_clock::now();
  const Outcome leader = job.process(0).wait(), second = job.process(1).wait();
  EXPECT_NE(leader.exit_code, 0);
  EXPECT_THAT(second.err, HasSubstr("quick.npz"));
  EXPECT_THAT(leader.err, HasSubstr("process 1"));
  EXPECT_LT(steady_clock::now() - begun, seconds(60));
}

/// Sets an environment variable during its lifetime.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST_F(Distributed, OneThatNeverJoinsIsNamedWhenPatienceEnds) {
  const Variable patience("PROTOCOM_PATIENCE", "2");
  const Variable address("MASTER_ADDR", "127.0.0.1");
  const Variable size("WORLD_SIZE", "2");
  const std::vector<std::string> evaluation = {
      "evaluate", "--features", "features.npz", "--methods", "mean",      "--n-query", "3",
      "--k-shot", "1",          "--n-way",      "3",         "--threads", "1"};
  std::vector<std::unique_ptr<Program>> alone;
  for (const char* own : {"0", "1"}) {
    const Variable port("MASTER_PORT", std::to_string(free_port()).c_str());
    const Variable rank("RANK", own);
    alone.push_back(std::make_unique<Program>(folder_->path(), evaluation));
  }
  const Outcome leader = alone[0]->wait(), second = alone[1]->wait();
  EXPECT_EQ(leader.exit_code, 1);
  EXPECT_THAT(leader.err, HasSubstr("waiting for 1 of 2 processes: 1 (2 s at most)"));
  EXPECT_THAT(leader.err, HasSubstr("process 1 of 2 has not joined within 2 s"));
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr("process 1 of 2 waits for process 0"));
  EXPECT_THAT(second.err, HasSubstr("process 0 of 2 has not joined within 2 s: nothing listens at 127.0.0.1:"));
}

TEST_F(Distributed, ThreeOfFourThatHaveJoinedAllNameTheFourth) {
  const Variable patience("PROTOCOM_PATIENCE", "3");
  const Variable address("MASTER_ADDR", "127.0.0.1");
  const Variable port("MASTER_PORT", std::to_string(free_port()).c_str());
  const Variable size("WORLD_SIZE", "4");
  std::vector<std::unique_ptr<Program>> three;
  for (const char* own : {"0", "1", "3"}) {
    const Variable rank("RANK", own);
    three.push_back(std::make_unique<Program>(
        folder_->path(), std::vector<std::string>{"extract", "--images", "images.pack", "--backbone", "quick.npz",
                                                  "--out", "alone.npz", "--quiet", "--threads", "1"}));
  }
  for (const auto& one : three) {
    const Outcome outcome = one->wait();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("process 2 of 4 has not joined within 3 s"));
  }
}

TEST_F(Distributed, OneThatIsStoppedHoldsTheOthersForAWhileAndEndsItselfWhenItWakes) {
  const Variable silence("PROTOCOM_SILENCE", "6");
  std::vector<std::string> arguments = pretraining("4000", "24");
  arguments.insert(arguments.end(), {"--out", "held", "--quiet", "--threads", "1", "--checkpoint-every", "0.2"});
  for (const size_t stopped : {0, 1}) {
    for (const char* end : {"held", "held.last", "held.last.previous", "held.jsonl"})
      std::filesystem::remove(file(end));
    Job job(folder_->path(), arguments, 2);
    const auto log = file("held.jsonl");
    for (int i = 0; i < 1200 && (!std::filesystem::exists(log) || std::filesystem::file_size(log) == 0); ++i)
      std::this_thread::sleep_for(milliseconds(50));
    job.process(stopped).signal(SIGSTOP);
    const auto begun = steady_clock::now();
    const Outcome outcome = job.process(1 - stopped).wait();
    EXPECT_LT(steady_clock::now() - begun, seconds(60));
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("process " + std::to_string(stopped) + " of 2 does not answer"));
    EXPECT_TRUE(std::filesystem::exists(file("held.last"))) << "the state saved before";
    job.process(stopped).signal(SIGCONT);
    const auto woken = steady_clock::now();
    const Outcome late = job.process(stopped).wait();
    EXPECT_LT(steady_clock::now() - woken, seconds(60));
    EXPECT_EQ(late.exit_code, 1);
    EXPECT_THAT(late.err, HasSubstr("process " + std::to_string(1 - stopped) + " of 2"));
  }
}

}  // namespace
}  // namespace protocom::testing
