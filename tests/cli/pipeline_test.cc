#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "cli/program.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A whole run in a few seconds: tiny images, a small network, hardly any training.
constexpr const char* kConfig = R"(
out = "${folder}"

[synth]
image-size = 32
images-per-class = 20
base = 8
val = 3
novel = 5

[pack]
image-size = 32

[knowledge]
source = "table"
embedding-dim = 6

[pretrain]
architecture = "conv4"
epochs = 1
batch = 32
val-episodes = 10

[extract]

[complete]
epochs = 2
batches = 20
lr = 0.0001
val-episodes = 10

[evaluate]
k-shot = [1, 5]
n-query = 5
episodes = 20

[report]
)";

const std::vector<std::string> kStages = {"synth",   "pack",     "knowledge", "pretrain",
                                          "extract", "complete", "evaluate",  "report"};
const std::vector<std::string> kArtefacts = {"images/split.csv", "images.pack", "knowledge.npz", "backbone.npz",
                                             "features.npz",     "model.npz",   "results.json",  "report.html"};

/// Stage -> "run" or "skip", from the table that --dry-run prints.
std::map<std::string, std::string> planned(const Outcome& outcome) {
  std::map<std::string, std::string> actions;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string stage, action;
    words >> stage >> action;
    if (stage != "stage") actions[stage] = action;
  }
  return actions;
}

/// The stages that a run says it worked on ("== pack: not made yet").
std::vector<std::string> stages_run(const Outcome& outcome) {
  std::vector<std::string> stages;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("== ", 0) == 0 && line.find("up to date") == std::string::npos)
      stages.push_back(line.substr(3, line.find(':') - 3));
  }
  return stages;
}

/// One pipeline is run once and shared by the tests, which leave it as they found it.
class Pipeline : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempDir>();
    write_text(*folder_ / "tiny.toml", kConfig);
    first_ = run({});
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static Outcome run(const std::vector<std::string>& more, const std::string& out = "out") {
    std::vector<std::string> arguments = {"run", "tiny.toml", "--quiet", "--threads", "1", "--set", "folder=" + out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return protocom(folder_->path(), arguments);
  }
  static fs::path out(const std::string& name) { return folder_->path() / "out" / name; }

  /// "<class>/<number>.jpg" of the first image there is.
  static std::string first_image() {
    for (const std::string& file : files_below(out("images"))) {
      if (file.find('/') != std::string::npos) return file;
    }
    throw std::runtime_error("the run left no image");
  }

  static std::unique_ptr<TempDir> folder_;
  static Outcome first_;
};
std::unique_ptr<TempDir> Pipeline::folder_;
Outcome Pipeline::first_;

TEST_F(Pipeline, OneCommandGoesFromNothingToAReport) {
  ASSERT_EQ(first_.exit_code, 0) << first_.err;
  EXPECT_EQ(stages_run(first_), kStages);
  for (const std::string& artefact : kArtefacts) EXPECT_TRUE(fs::exists(out(artefact))) << artefact;
  for (const std::string& file : files_below(folder_->path() / "out"))
    EXPECT_THAT(file, Not(HasSubstr(".tmp"))) << "left behind";
}

TEST_F(Pipeline, ResultsHoldEveryMethodWithItsModeAndInterval) {
  const json document = json::parse(read_text(out("results.json")));
  std::map<std::string, std::string> mode;
  for (const json& result : document.at("results")) {
    mode[result.at("method")] = result.at("mode");
    EXPECT_EQ(result.at("n_way"), 5);
    EXPECT_EQ(result.at("episodes"), 20);
    EXPECT_EQ(result.at("per_episode").size(), 20u);
    EXPECT_GE(result.at("accuracy").get<double>(), 0.0);
    EXPECT_LE(result.at("accuracy").get<double>(), 100.0);
    EXPECT_GE(result.at("ci95").get<double>(), 0.0);
  }
  EXPECT_EQ(mode, (std::map<std::string, std::string>{{"mean", "inductive"},
                                                      {"completed", "inductive"},
                                                      {"mean-fusion", "inductive"},
                                                      {"gauss-fusion", "transductive"}}));
}

TEST_F(Pipeline, ShowTellsWhereEachArtefactComesFrom) {
  for (const auto& [file, kind, command] : {std::tuple{"images.pack", "images", "pack"},
                                            {"knowledge.npz", "knowledge", "knowledge table"},
                                            {"backbone.npz", "backbone", "pretrain"},
                                            {"features.npz", "features", "extract"},
                                            {"model.npz", "protocomnet", "complete"},
                                            {"results.json", "results", "evaluate"}}) {
    const Outcome shown = protocom(folder_->path(), {"show", out(file).string(), "--json"});
    ASSERT_EQ(shown.exit_code, 0) << shown.err;
    const json document = json::parse(shown.out);
    EXPECT_EQ(document.at("header").at("kind"), kind);
    EXPECT_EQ(document.at("header").at("command"), command);
    EXPECT_THAT(document.at("members"), Not(IsEmpty()));
    EXPECT_EQ(protocom(folder_->path(), {"show", out(file).string()}).exit_code, 0);
  }
}

TEST_F(Pipeline, TheHeaderHoldsOptionsThatNobodyGave) {
  const json document = json::parse(protocom(folder_->path(), {"show", out("backbone.npz").string(), "--json"}).out);
  const json& options = document.at("header").at("options");
  EXPECT_EQ(options.at("epochs"), 1);
  EXPECT_EQ(options.at("momentum"), 0.9);
  EXPECT_EQ(options.at("rotation"), false);
}

TEST_F(Pipeline, ASecondRunSkipsEverything) {
  const Outcome again = run({});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(stages_run(again), IsEmpty());
}

TEST_F(Pipeline, AChangedOptionRunsItsStageAndWhatDependsOnIt) {
  const Outcome plan = run({"--set", "complete.epochs=3", "--dry-run"});
  EXPECT_EQ(planned(plan), (std::map<std::string, std::string>{{"synth", "skip"},
                                                               {"pack", "skip"},
                                                               {"knowledge", "skip"},
                                                               {"pretrain", "skip"},
                                                               {"extract", "skip"},
                                                               {"complete", "run"},
                                                               {"evaluate", "run"},
                                                               {"report", "run"}}));
  EXPECT_THAT(plan.out, HasSubstr("epochs: 2 -> 3"));
  const Outcome changed = run({"--set", "complete.epochs=3"});
  EXPECT_EQ(changed.exit_code, 0) << changed.err;
  EXPECT_THAT(stages_run(changed), ElementsAre("complete", "evaluate", "report"));
  EXPECT_THAT(stages_run(run({})), ElementsAre("complete", "evaluate", "report")) << "back to how the tests share it";
}

TEST_F(Pipeline, ADryRunWritesNothing) {
  const std::vector<std::string> before = files_below(folder_->path());
  const Outcome plan = run({"--dry-run"}, "elsewhere");
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  for (const auto& [stage, action] : planned(plan)) EXPECT_EQ(action, "run") << stage;
  EXPECT_EQ(files_below(folder_->path()), before);
}

TEST_F(Pipeline, ADamagedArtefactIsMadeAnew) {
  const std::string good = read_text(out("model.npz"));
  write_text(out("model.npz"), good.substr(0, good.size() / 2));
  const Outcome repaired = run({});
  EXPECT_EQ(repaired.exit_code, 0) << repaired.err;
  EXPECT_THAT(stages_run(repaired), Contains("complete"));
  EXPECT_THAT(stages_run(repaired), Not(Contains("extract")));
  EXPECT_EQ(read_text(out("model.npz")), good) << "the same inputs, options and seed give the same bytes";
}

TEST_F(Pipeline, ARunThatIsCutOffGoesOnWhereItWas) {
  const std::vector<std::string> longer = {"--set", "pretrain.epochs=25"};
  std::vector<std::string> arguments = {"run", "tiny.toml", "--quiet", "--threads", "1", "--set", "folder=cut"};
  arguments.insert(arguments.end(), longer.begin(), longer.end());
  Program program(folder_->path(), arguments);
  const fs::path cut = folder_->path() / "cut";
  // The training's state is there after its first epoch.
  for (int waited = 0; !fs::exists(cut / "backbone.npz.last") && waited < 1200; ++waited)
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  ASSERT_TRUE(fs::exists(cut / "backbone.npz.last")) << "the training did not begin";
  program.kill();
  EXPECT_EQ(program.wait().exit_code, 128 + SIGKILL);
  EXPECT_FALSE(fs::exists(cut / "features.npz"));

  const Outcome resumed = run(longer, "cut");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(stages_run(resumed), ElementsAre("pretrain", "extract", "complete", "evaluate", "report"));
  EXPECT_THAT(resumed.out, HasSubstr("== pretrain: resumes where it was interrupted"));
  const std::string epochs = read_text(cut / "backbone.npz.jsonl");
  EXPECT_EQ(std::count(epochs.begin(), epochs.end(), '\n'), 25) << "one line an epoch, none twice";
  EXPECT_THAT(stages_run(run(longer, "cut")), IsEmpty());

  const Outcome other = run({}, "cut");
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.out, HasSubstr("== pretrain: epochs: 25 -> 1"))
      << "the old training's state must not stand in the way";
}

TEST_F(Pipeline, EnrolledClassesAreRecognised) {
  const fs::path images = folder_->path() / "out/images";
  std::vector<std::string> novel;
  std::istringstream split(read_text(images / "split.csv"));
  for (std::string line; std::getline(split, line);) {
    if (line.find(",novel") != std::string::npos) novel.push_back(line.substr(0, line.find(',')));
  }
  ASSERT_EQ(novel.size(), 5u);
  for (const std::string& name : novel) {
    std::vector<std::string> arguments = {"enrol", "creatures.store", "--class", name};
    const std::vector<std::string> files = files_below(images / name);
    for (size_t i = 0; i < 3; ++i) arguments.push_back((images / name / files.at(i)).string());
    if (name == novel.front()) {
      for (const char* file : {"backbone", "model", "knowledge"}) {
        arguments.push_back(std::string("--") + file);
        arguments.push_back(out(std::string(file) + ".npz").string());
      }
    }
    const Outcome enrolled = protocom(folder_->path(), arguments);
    ASSERT_EQ(enrolled.exit_code, 0) << enrolled.err;
    EXPECT_THAT(enrolled.out, HasSubstr("3 (3 new)"));
  }
  for (const char* mode : {"inductive", "transductive"}) {
    std::vector<std::string> arguments = {
        "classify", "creatures.store", (images / novel[0]).string(), "--format", "json", "--top", "5"};
    if (std::string(mode) == "transductive") arguments.emplace_back("--transductive");
    const Outcome classified = protocom(folder_->path(), arguments);
    ASSERT_EQ(classified.exit_code, 0) << classified.err;
    const json document = json::parse(classified.out);
    EXPECT_EQ(document.at("mode"), mode);
    ASSERT_EQ(document.at("results").size(), 20u);
    for (const json& result : document.at("results")) {
      double total = 0, before = 1;
      for (const json& one : result.at("ranking")) {
        const double probability = one.at("probability");
        EXPECT_LE(probability, before) << "not ranked";
        before = probability;
        total += probability;
      }
      EXPECT_NEAR(total, 1.0, 1e-4) << "all five classes together";
    }
  }
}

TEST_F(Pipeline, AFittedMethodNeedsNoTrainingToMeasureEnrolAndClassify) {
  const Outcome fitted =
      protocom(folder_->path(), {"fit", "--method", "plda", "--features", out("features.npz").string(), "--knowledge",
                                 out("knowledge.npz").string(), "--out", "plda.npz", "--quiet"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  const Outcome measured = protocom(
      folder_->path(), {"evaluate", "--features", out("features.npz").string(), "--knowledge",
                        out("knowledge.npz").string(), "--fitted", "plda.npz", "--episodes", "10", "--n-query", "5"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  for (const char* method : {"mean ", "plda ", "plda-vb"}) EXPECT_THAT(measured.out, HasSubstr(method));
  std::map<std::string, std::vector<std::string>> by_class;
  for (const std::string& file : files_below(out("images"))) {
    if (file.find('/') != std::string::npos)
      by_class[file.substr(0, file.find('/'))].push_back((out("images") / file).string());
  }
  std::vector<std::string> files = {"--backbone",  out("backbone.npz").string(), "--fitted", "plda.npz",
                                    "--knowledge", out("knowledge.npz").string()};
  const auto first = by_class.begin();
  for (const auto& entry : {*first, *std::next(first)}) {
    std::vector<std::string> arguments = {"enrol", "fitted.store", entry.second[0], "--class", entry.first};
    arguments.insert(arguments.end(), files.begin(), files.end());
    const Outcome enrolled = protocom(folder_->path(), arguments);
    ASSERT_EQ(enrolled.exit_code, 0) << enrolled.err;
    files.clear();  // the store knows its own
  }
  for (const auto& [flag, method] : {std::pair{"", "plda"}, std::pair{"--transductive", "plda-vb"}}) {
    std::vector<std::string> arguments = {"classify", "fitted.store", first->second[1], first->second[2], "gone.jpg",
                                          "--format", "json"};
    if (*flag != '\0') arguments.emplace_back(flag);
    const Outcome classified = protocom(folder_->path(), arguments);
    EXPECT_EQ(classified.exit_code, 1) << "one argument is not there";
    EXPECT_THAT(classified.err, HasSubstr("gone.jpg: no such file"));
    const json document = json::parse(classified.out);
    EXPECT_EQ(document.at("method"), method);
    EXPECT_EQ(document.at("results").size(), 2u) << "the others are answered";
  }
}

TEST_F(Pipeline, ImagesThatCannotBeReadAreNamedAndDoNotStopTheOthers) {
  const fs::path images = folder_->path() / "out/images";
  const std::string name = first_image();
  const std::string folder = name.substr(0, name.find('/'));
  const std::string store = "damaged.store";
  const std::string one = (images / name).string();
  ASSERT_EQ(
      protocom(folder_->path(), {"enrol", store, one, "--class", folder, "--backbone", out("backbone.npz").string(),
                                 "--model", out("model.npz").string(), "--knowledge", out("knowledge.npz").string()})
          .exit_code,
      0);
  write_text(*folder_ / "mixed/a.jpg", read_text(one));
  write_text(*folder_ / "mixed/b.jpg", read_text(one).substr(0, 200));
  const Outcome outcome = protocom(folder_->path(), {"classify", store, "mixed", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("mixed/a.jpg,1," + folder + ",1.000000"));
  EXPECT_THAT(outcome.err, HasSubstr("mixed/b.jpg"));
  EXPECT_THAT(outcome.err, HasSubstr("1 of 2 images could not be read"));
  const std::string before = read_text(*folder_ / store);
  EXPECT_EQ(protocom(folder_->path(), {"enrol", store, "mixed", "--class", folder}).exit_code, 1);
  EXPECT_EQ(read_text(*folder_ / store), before) << "a failed enrolment changed the store";
}

TEST_F(Pipeline, AnUnknownAttributeIsAnsweredWithItsNeighbours) {
  const std::string one = (out("images") / first_image()).string();
  const std::string attributes = read_text(out("images/attributes.csv"));
  const size_t line = attributes.find('\n') + 1;
  const std::string row = attributes.substr(line, attributes.find('\n', line) - line);
  const std::string attribute = row.substr(row.find(',') + 1);
  const Outcome outcome =
      protocom(folder_->path(), {"enrol", "typo.store", one, "--class", "new", "--attributes", attribute + "x",
                                 "--backbone", out("backbone.npz").string(), "--model", out("model.npz").string(),
                                 "--knowledge", out("knowledge.npz").string()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("'" + attribute + "x'; did you mean '"));
  EXPECT_FALSE(fs::exists(*folder_ / "typo.store"));
}

TEST_F(Pipeline, TwoEnrolmentsAtOnceBothCount) {
  const fs::path images = folder_->path() / "out/images";
  const std::vector<std::string> files = files_below(images);
  std::map<std::string, std::vector<std::string>> by_class;
  for (const std::string& file : files) {
    if (file.find('/') != std::string::npos)
      by_class[file.substr(0, file.find('/'))].push_back((images / file).string());
  }
  std::vector<std::unique_ptr<Program>> programs;
  for (const auto& [name, paths] : by_class) {
    if (programs.size() == 4) break;
    programs.push_back(std::make_unique<Program>(
        folder_->path(),
        std::vector<std::string>{"enrol", "together.store", paths[0], paths[1], "--class", name, "--threads", "1",
                                 "--backbone", out("backbone.npz").string(), "--model", out("model.npz").string(),
                                 "--knowledge", out("knowledge.npz").string()}));
  }
  for (const auto& program : programs) {
    const Outcome outcome = program->wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  const json document = json::parse(protocom(folder_->path(), {"show", "together.store", "--json"}).out);
  EXPECT_EQ(document.at("header").at("kind"), "class-store");
  EXPECT_EQ(document.at("header").at("details").at("classes"), 4);
}

}  // namespace
}  // namespace protocom::testing
