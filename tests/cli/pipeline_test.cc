#include "cli/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<std::string> kStages = {"synth",   "pack",     "knowledge", "pretrain",
                                          "extract", "complete", "evaluate",  "report"};
const std::vector<std::string> kArtefacts = {"images/split.csv", "images.pack", "knowledge.npz", "backbone.npz",
                                             "features.npz",     "model.npz",   "results.json",  "report.html"};

/// Returns stage -> "run" or "skip", from the table that --dry-run prints.
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

/// Returns the stages that a run says it worked on ("== pack: not made yet").
std::vector<std::string> stages_run(const Outcome& outcome) {
  std::vector<std::string> stages;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("== ", 0) == 0 && line.find("up to date") == std::string::npos)
      stages.push_back(line.substr(3, line.find(':') - 3));
  }
  return stages;
}

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
    const auto episodes = result.at("per_episode").get<std::vector<double>>();
    const double mean = std::accumulate(episodes.begin(), episodes.end(), 0.0) / 20;
    double squares = 0;
    for (const double one : episodes) squares += (one - mean) * (one - mean);
    EXPECT_NEAR(result.at("accuracy").get<double>(), mean, 1e-9);
    EXPECT_NEAR(result.at("ci95").get<double>(), 1.96 * std::sqrt(squares / 19 / 20), 1e-9);
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

TEST_F(Pipeline, TheHeaderHoldsDefaultOptionsToo) {
  const json document = json::parse(protocom(folder_->path(), {"show", out("backbone.npz").string(), "--json"}).out);
  const json& options = document.at("header").at("options");
  EXPECT_EQ(options.at("epochs"), 1);
  EXPECT_EQ(options.at("momentum"), 0.9);
  EXPECT_EQ(options.at("rotation"), false);
}

TEST_F(Pipeline, FeatureMapsOfItsImagesAreWhatAMethodIsFittedOnAndAnswersBy) {
  const TempDir folder;
  const auto run = [&](std::vector<std::string> arguments, const std::vector<const char*>& files) {
    for (const char* file : files) {
      arguments.push_back("--" + fs::path(file).stem().string());
      arguments.push_back(out(file).string());
    }
    return protocom(folder.path(), arguments);
  };
  const Outcome maps = run({"--quiet", "extract", out("images.pack").string(), "--maps", "maps"}, {"backbone.npz"});
  ASSERT_EQ(maps.exit_code, 0) << maps.err;
  const std::vector<std::string> fit = {"--quiet", "fit", "--method", "cfa:steps=20", "--out", "cfa.npz"};
  EXPECT_THAT(run(fit, {"features.npz"}).err, HasSubstr("'cfa' needs feature maps (protocom extract --maps)"));
  std::vector<std::string> with_maps = fit;
  with_maps.insert(with_maps.end(), {"--feature-maps", "maps"});
  const Outcome fitted = run(with_maps, {"features.npz"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  const std::vector<std::string> evaluate = {"--quiet",   "evaluate", "--k-shot", "1",       "--episodes", "20",
                                             "--n-query", "5",        "--fitted", "cfa.npz", "--methods",  "mean,cfa"};
  EXPECT_THAT(run(evaluate, {"features.npz"}).err, HasSubstr("'cfa' needs feature maps (protocom extract --maps)"));
  with_maps = evaluate;
  with_maps.insert(with_maps.end(), {"--feature-maps", "maps"});
  const Outcome evaluated = run(with_maps, {"features.npz"});
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.out, HasSubstr("cfa:steps=20"));
  EXPECT_THAT(run({"recognizer", "create", "r.pcm", "--fitted", "cfa.npz"}, {"backbone.npz"}).err,
              HasSubstr("'cfa' needs feature maps, which a recognizer does not keep"));
}

TEST_F(Pipeline, FeaturesRememberTheShorterSideThatTheirPackWasCutOutOf) {
  const TempDir folder;
  const auto run = [&](const std::vector<std::string>& arguments) { return protocom(folder.path(), arguments); };
  const std::string images = out("images").string();
  const std::string split = out("images/split.csv").string();
  const Outcome packed =
      run({"pack", images, "--split", split, "--preprocess", "plain:size=32:resize=40", "--out", "p"});
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  EXPECT_THAT(packed.out, HasSubstr("32 x 32 of a shorter side of 40"));
  const Outcome extracted = run({"extract", "p", "--backbone", out("backbone.npz").string(), "--out", "f.npz"});
  ASSERT_EQ(extracted.exit_code, 0) << extracted.err;
  EXPECT_THAT(extracted.out, HasSubstr("shorter side 40, crop 32"));
  EXPECT_THAT(extracted.err, HasSubstr("cut out of a shorter side of 32, these are 32x32 of 40"));

  ASSERT_EQ(run({"pretrain", "p", "--architecture", "conv4", "--epochs", "1", "--val-episodes", "0", "--out", "b.npz"})
                .exit_code,
            0);
  const Outcome tuned = run({"metatrain",      images, "--split",   split,  "--head",     "mean", "--backbone", "b.npz",
                             "--epochs",       "1",    "--batches", "1",    "--episodes", "1",    "--n-query",  "2",
                             "--val-episodes", "0",    "--out",     "j.npz"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.err, Not(HasSubstr("the backbone expects images"))) << "the folder's photos are brought to 40";
  EXPECT_EQ(run({"pack", images, "--preprocess", "clip", "--image-size", "32", "--out", "q"}).exit_code, 2);
}

TEST_F(Pipeline, WhatSaysWhichImagesItTakesIsNotComparedAndNeitherIsAPack) {
  for (const auto& [images, reason] :
       {std::pair{"images", "states its preprocessing"}, std::pair{"images.pack", "needs the folder of photos"}}) {
    const Outcome outcome = protocom(folder_->path(), {"extract", out(images).string(), "--backbone",
                                                       out("backbone.npz").string(), "--preprocess", "compare"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(reason));
  }
}

TEST_F(Pipeline, AFolderWithoutSplitIsDrawnAndThenExtracted) {
  const TempDir folder;
  fs::copy(out("images"), folder.path() / "photos", fs::copy_options::recursive);
  fs::remove(folder.path() / "photos/split.csv");
  const auto run = [&](const std::vector<std::string>& arguments) { return protocom(folder.path(), arguments); };
  const std::vector<std::string> extract = {"extract", "photos", "--backbone", out("backbone.npz").string(),
                                            "--out",   "f.npz",  "--split"};
  EXPECT_THAT(run({extract.begin(), extract.end() - 1}).err, HasSubstr("`protocom split` draws one"));
  const Outcome drawn = run({"split", "photos", "--out", "photos/split.csv"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_THAT(drawn.out, AllOf(HasSubstr("base         8     160"), HasSubstr("val          3      60"),
                               HasSubstr("novel        5     100"), HasSubstr("photos/split.csv written")));
  const std::string removed = first_image().substr(0, first_image().find('/'));
  EXPECT_THAT(read_text(folder.path() / "photos/split.csv"), HasSubstr("\n" + removed + ","));
  fs::remove_all(folder.path() / "photos" / removed);
  EXPECT_EQ(run({"split", "photos", "--seed", "2", "--out", "other.csv"}).exit_code, 0) << "its own split is no matter";
  EXPECT_THAT(read_text(folder.path() / "other.csv"), Not(HasSubstr(removed)));
  const Outcome other = run({"inspect", "photos", "--split", "other.csv"});
  EXPECT_THAT(other.out, HasSubstr("novel        5     100"));
  EXPECT_EQ(run({"split", "photos", "--fewest-images", "21", "--out", "o.csv"}).exit_code, 1);
  EXPECT_THAT(run({"split", "photos", "--out", "other.csv"}).err, HasSubstr("other.csv is already there"));
  std::vector<std::string> with = extract;
  with.emplace_back("other.csv");
  EXPECT_EQ(run(with).exit_code, 0);
}

TEST_F(Pipeline, AFilledInTemplateDescribesWhatIsEnrolled) {
  const TempDir folder;
  const std::string photo = first_image();
  const std::string name = photo.substr(0, photo.find('/'));
  fs::create_directories(folder.path() / "mine" / name);
  fs::copy(out("images/" + photo), folder.path() / "mine" / name);
  const auto run = [&](const std::vector<std::string>& arguments) { return protocom(folder.path(), arguments); };
  ASSERT_EQ(run({"knowledge", "template", "--split", out("images/split.csv").string(), "--knowledge",
                 out("knowledge.npz").string(), "--out", "t.csv"})
                .exit_code,
            0);
  const Outcome made = run({"recognizer", "create", "r.pcm", "--backbone", out("backbone.npz").string(), "--model",
                            out("model.npz").string(), "--knowledge", out("knowledge.npz").string(), "--images", "mine",
                            "--attributes", "t.csv"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr(name));
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
  // Waits for the training's state after its first epoch.
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
  EXPECT_EQ(std::count(epochs.begin(), epochs.end(), '\n'), 25) << "one line per epoch, none twice";
  EXPECT_THAT(stages_run(run(longer, "cut")), IsEmpty());

  const Outcome other = run({}, "cut");
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.out, HasSubstr("== pretrain: epochs: 25 -> 1"))
      << "the old training's state must not stand in the way";
}

}  // namespace
}  // namespace protocom::testing
