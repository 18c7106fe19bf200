#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/pipeline.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kAnalyses = R"(
[analyse]
n-query = 5
episodes = 10
cosine-episodes = 10
map-images = 10
perplexity = 5
png = true
)";

/// The inputs of the analyses are made once and shared.
class Analyse : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempDir>();
    write_text(*folder_ / "tiny.toml", std::string(kTinyRun) + kAnalyses);
    made_ = protocom(folder_->path(), {"run", "tiny.toml", "--quiet", "--threads", "1", "--set", "folder=out", "--set",
                                       "evaluate.k-shot=1", "--set", "evaluate.episodes=10"});
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override { ASSERT_EQ(made_.exit_code, 0) << made_.err; }

  /// Runs `protocom analyse --only NAME` on the artefacts, with ten episodes.
  static Outcome analyse(const std::string& name, const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--quiet",     "--threads",
                                          "1",           "analyse",
                                          "--only",      name,
                                          "--features",  "out/features.npz",
                                          "--model",     "out/model.npz",
                                          "--knowledge", "out/knowledge.npz",
                                          "--out",       out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return protocom(folder_->path(), arguments);
  }
  static json read(const std::string& name) { return json::parse(read_text(folder_->path() / name)); }

  static std::unique_ptr<TempDir> folder_;
  static Outcome made_;
};
std::unique_ptr<TempDir> Analyse::folder_;
Outcome Analyse::made_;

const std::vector<std::string> kFewEpisodes = {"--episodes", "10", "--n-query", "5"};

TEST_F(Analyse, MakesEverythingInARunAndTheReportShowsIt) {
  const auto files = files_below(folder_->path() / "out/analysis");
  for (const char* name : {"ablation", "attention", "calibration", "classes", "cosine", "distribution", "episodes",
                           "failures", "nearest", "noise", "shots", "single-images", "unlabelled", "ways"}) {
    ASSERT_THAT(files, Contains(std::string(name) + ".json"));
    const json written = read("out/analysis/" + std::string(name) + ".json");
    EXPECT_EQ(written.at("analysis"), name);
    EXPECT_EQ(written.at("header").at("kind"), "analysis");
    EXPECT_EQ(written.at("header").at("inputs").count("features"), 1U) << name;
    EXPECT_THAT(written.at("command").get<std::string>(), StartsWith("protocom analyse --"));
    EXPECT_FALSE(written.at("data").empty()) << name;
    EXPECT_THAT(made_.out, HasSubstr(written.at("section").at("finding").get<std::string>()));
    for (const json& figure : written.at("section").at("figures")) {
      EXPECT_THAT(files, Contains(figure.at("id").get<std::string>() + ".svg"));
      EXPECT_THAT(files, Contains(figure.at("id").get<std::string>() + ".png"));
    }
  }
  const std::string html = read_text(*folder_ / "out/report.html");
  EXPECT_THAT(html, HasSubstr("<section id=\"analysis-failures\">"));
  EXPECT_THAT(html, HasSubstr("data:image/jpeg;base64,"));
  for (const char* word : {"http:", "https:", "<script"}) EXPECT_THAT(html, Not(HasSubstr(word)));
}

// Each episode of this run has all five novel classes.
TEST_F(Analyse, OfClassesThatWereNotGivenIsMadeWhereThereAreSome) {
  EXPECT_THAT(files_below(folder_->path() / "out/analysis"), Not(Contains("unseen.json")));
  const auto unseen = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--quiet",          "analyse",   "--only", "unseen",     "--features",
                                          "out/features.npz", "--n-query", "5",      "--episodes", "10",
                                          "--few-shots",      "1",         "--out",  "unseen"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return protocom(folder_->path(), arguments);
  };
  const Outcome without = unseen({"--n-way", "5"});
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.err, HasSubstr("classes"));
  const Outcome outcome = unseen({"--n-way", "3", "--others", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json written = read("unseen/unseen.json");
  EXPECT_EQ(written.at("analysis"), "unseen");
  EXPECT_FALSE(written.at("data").empty());
}

TEST_F(Analyse, PutsResultsSideBySide) {
  const Outcome tables =
      protocom(folder_->path(), {"analyse", "--only", "tables", "--results", "out/results.json", "--out", "t"});
  ASSERT_EQ(tables.exit_code, 0) << tables.err;
  EXPECT_THAT(tables.out, HasSubstr("features: 5-way 1-shot"));
  EXPECT_EQ(read("t/tables.json").at("data").at("rows").size(), 4U);
}

TEST_F(Analyse, MakesThoseThatAreAskedForAndNoOthers) {
  const Outcome made = analyse("noise,classes", "two", kFewEpisodes);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto files = files_below(folder_->path() / "two");
  for (const char* name : {"noise.json", "classes.json"}) EXPECT_THAT(files, Contains(name));
  EXPECT_THAT(files, Not(Contains("shots.json")));
}

/// Returns the most accurate inductive method of `evaluate` on the same episodes.
std::string winner_in(const json& results) {
  std::string best;
  double highest = -1.0;
  for (const json& row : results.at("results")) {
    if (row.at("mode") != "inductive" || row.at("accuracy").get<double>() <= highest) continue;
    best = row.at("method");
    highest = row.at("accuracy").get<double>();
  }
  return best;
}

TEST_F(Analyse, LooksIntoTheAnswersOfTheMostAccurateInductiveMethodUnlessOneIsNamed) {
  const std::vector<std::string> few = {"--n-query", "5",         "--episodes",
                                        "10",        "--methods", "knn,mean,gauss-fusion,completed"};
  std::vector<std::string> measure = {"evaluate",      "--features",  "out/features.npz",  "--model",
                                      "out/model.npz", "--knowledge", "out/knowledge.npz", "--json",
                                      "win.json",      "--quiet"};
  measure.insert(measure.end(), few.begin(), few.end());
  const Outcome measured = protocom(folder_->path(), measure);
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const Outcome made = analyse("classes,failures", "win", few);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string winner = winner_in(read("win.json"));
  EXPECT_EQ(read("win/classes.json").at("data").at("method"), winner);
  const std::string told = "Answers of " + winner + ", the most accurate inductive method here. ";
  for (const char* name : {"win/classes.json", "win/failures.json"})
    EXPECT_THAT(read(name).at("section").at("how").get<std::string>(), StartsWith(told));
  std::vector<std::string> named = few;
  named.insert(named.end(), {"--method", "gauss-fusion"});
  ASSERT_EQ(analyse("classes", "named", named).exit_code, 0);
  EXPECT_EQ(read("named/classes.json").at("data").at("method"), "gauss-fusion");
}

TEST_F(Analyse, TakesAllTheNamesThatItsHelpLists) {
  const std::string help = protocom(folder_->path(), {"analyse", "--help"}).out;
  std::istringstream lines(help.substr(help.find("\nAnalyses:\n") + 11));
  std::string names;
  int64_t count = 0;
  for (std::string line; std::getline(lines, line) && !line.empty(); ++count)
    names += (names.empty() ? "" : ",") + line.substr(2, line.find(' ', 2) - 2);
  EXPECT_EQ(count, 20) << names;
  EXPECT_THAT(
      protocom(folder_->path(), {"analyse", "--only", names, "--results", "out/results.json", "--out", "d"}).err,
      HasSubstr("--features is required"));
}

TEST_F(Analyse, RunsTheEpisodesThatEvaluateRunsWithTheSameSeed) {
  const json results = read("out/results.json");
  EXPECT_EQ(read("out/analysis/noise.json").at("episodes_hash"), results.at("episodes_hash"));
  const json points = read("out/analysis/noise.json").at("data");
  for (const json& result : results.at("results")) {
    const auto same = std::find_if(points.begin(), points.end(), [&](const json& point) {
      return point.at("x") == 0.0 && point.at("method") == result.at("method");
    });
    ASSERT_NE(same, points.end());
    EXPECT_NEAR(same->at("accuracy").at("value").get<double>(), result.at("accuracy").get<double>(), 1e-9);
  }
}

TEST_F(Analyse, GivesTheSameNumbersForTheSameSeedAndOthersForAnother) {
  std::vector<std::string> more = kFewEpisodes;
  ASSERT_EQ(analyse("noise", "a", more).exit_code, 0);
  ASSERT_EQ(analyse("noise", "b", more).exit_code, 0);
  EXPECT_EQ(read("a/noise.json").at("data"), read("b/noise.json").at("data"));
  more.insert(more.end(), {"--seed", "2"});
  ASSERT_EQ(analyse("noise", "b", more).exit_code, 0);
  EXPECT_NE(read("a/noise.json").at("data"), read("b/noise.json").at("data"));
}

// There are twenty images per class, five of them queries.
TEST_F(Analyse, LeavesOutWhatTheSmallestClassHasNoRoomForAndSaysSo) {
  std::vector<std::string> more = kFewEpisodes;
  more.insert(more.end(), {"--max-shots", "30"});
  std::vector<std::string> loud = {"--threads",
                                   "1",
                                   "analyse",
                                   "--only",
                                   "shots",
                                   "--features",
                                   "out/features.npz",
                                   "--model",
                                   "out/model.npz",
                                   "--knowledge",
                                   "out/knowledge.npz",
                                   "--out",
                                   "c"};
  loud.insert(loud.end(), more.begin(), more.end());
  const Outcome shots = protocom(folder_->path(), loud);
  ASSERT_EQ(shots.exit_code, 0) << shots.err;
  EXPECT_THAT(shots.err, HasSubstr("room for 15 shots"));
  EXPECT_EQ(read("c/shots.json").at("data").back().at("x"), 15.0);
}

TEST_F(Analyse, OfFourNovelClassesIsFourWayAndSaysSo) {
  std::string split = read_text(*folder_ / "out/images/split.csv");
  split.replace(split.rfind(",novel"), std::string(",novel").size(), ",base");
  write_text(*folder_ / "four.csv", split);
  const auto all = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--threads", "1", "analyse", "all", "--class-split", "four.csv"};
    for (const std::string part : {"features", "knowledge", "model"})
      arguments.insert(arguments.end(), {"--" + part, "out/" + part + ".npz"});
    arguments.insert(arguments.end(), {"--cosine-episodes", "10", "--map-images", "10", "--perplexity", "5"});
    arguments.insert(arguments.end(), {"--out", "four"});
    arguments.insert(arguments.end(), kFewEpisodes.begin(), kFewEpisodes.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return protocom(folder_->path(), arguments);
  };
  const Outcome made = all({});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("the split 'novel' has 4 classes: episodes are 4-way, not 5-way"));
  EXPECT_THAT(made.out, HasSubstr("4-way 1-shot"));
  const json classes = read("four/classes.json").at("data").at("classes");
  ASSERT_EQ(classes.size(), 4U);
  for (const json& one : classes) EXPECT_EQ(one.at("queries"), 50) << "each is in all ten episodes, with five queries";
  const Outcome asked = all({"--n-way", "5"});
  EXPECT_EQ(asked.exit_code, 1) << "who asks for five is told that there are four";
  EXPECT_THAT(asked.err, HasSubstr("the split 'novel' has 4 classes, 5-way episodes need 5"));
}

TEST_F(Analyse, TakesTheMethodThatIsMeantAndNoOther) {
  const auto fit = [](const std::string& method, const std::string& file) {
    return protocom(folder_->path(), {"--quiet", "fit", "--method", method, "--features", "out/features.npz",
                                      "--knowledge", "out/knowledge.npz", "--out", file});
  };
  ASSERT_EQ(fit("plda", "plda.npz").exit_code, 0);
  ASSERT_EQ(fit("plda:prior=none", "none.npz").exit_code, 0);
  std::vector<std::string> more = kFewEpisodes;
  more.insert(more.end(), {"--fitted", "plda.npz", "--method", "plda:scale=2"});
  std::vector<std::string> classes = {
      "--quiet",     "analyse",           "--only", "classes", "--features", "out/features.npz",
      "--knowledge", "out/knowledge.npz", "--out",  "m"};
  classes.insert(classes.end(), more.begin(), more.end());
  const Outcome one = protocom(folder_->path(), classes);
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(read("m/classes.json").at("data").at("method"), "plda:scale=2");
  more = kFewEpisodes;
  more.insert(more.end(), {"--methods", "mean,plda", "--fitted", "none.npz", "--baseline", "plda", "--ways", "5"});
  ASSERT_EQ(analyse("ways", "m", more).exit_code, 0);
  const json points = read("m/ways.json").at("data");
  const auto baseline = std::find_if(points.begin(), points.end(),
                                     [](const json& point) { return point.at("method") == "plda:prior=none"; });
  ASSERT_NE(baseline, points.end());
  const auto accuracy = [](const json& point) { return point.at("accuracy").at("value").get<double>(); };
  ASSERT_EQ(points.size(), 2U);
  for (const json& point : points)
    EXPECT_NEAR(point.at("gain").at("value").get<double>(), accuracy(point) - accuracy(*baseline), 1e-9);
  const Outcome missing = analyse("ways", "m", {"--methods", "mean,completed", "--baseline", "mean-fusion"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("baseline: unknown method 'mean-fusion': expected one of mean, completed"));
}

TEST_F(Analyse, RecordsTheHashOfEveryListOfEpisodes) {
  const auto hashes_of = [](const std::string& file) {
    const std::string hashes = read(file).at("episodes_hash");
    return hashes.empty() ? 0 : std::count(hashes.begin(), hashes.end(), ' ') + 1;
  };
  EXPECT_EQ(hashes_of("out/analysis/imbalance.json"), 4) << "balanced, and three values of alpha";
  EXPECT_EQ(hashes_of("out/analysis/shots.json"), 6) << "1, 2, 3, 5, 10 and 15, for which there is room";
  std::vector<std::string> more = kFewEpisodes;
  more.insert(more.end(), {"--n-way", "3", "--few-shots", "1,5", "--others", "2"});
  ASSERT_EQ(analyse("unseen", "h", more).exit_code, 0);
  EXPECT_EQ(hashes_of("h/unseen.json"), 2);
  more.resize(more.size() - 2);
  ASSERT_EQ(analyse("generalised", "h", more).exit_code, 0);
  EXPECT_EQ(hashes_of("h/generalised.json"), 2);
}

TEST_F(Analyse, NamesWhatIsWrong) {
  EXPECT_THAT(analyse("nearest", "d", {"--classes", "class-of-nobody"}).err, HasSubstr("no class 'class-of-nobody'"));
  EXPECT_EQ(analyse("noise", "d", {"--gamma", "1.5"}).exit_code, 2);
  EXPECT_EQ(analyse("classes", "d", {"--method", "magic"}).exit_code, 2);
  const Outcome unknown = analyse("nois", "d", {});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("noise"));
  const Outcome word = protocom(folder_->path(), {"analyse", "noise", "--out", "d"});
  EXPECT_EQ(word.exit_code, 2);
  EXPECT_THAT(word.err, HasSubstr("--only noise"));
  EXPECT_THAT(protocom(folder_->path(), {"analyse", "--out", "d"}).err, HasSubstr("--features is required"));
  EXPECT_THAT(protocom(folder_->path(), {"analyse", "--only", "tables", "--out", "d"}).err, HasSubstr("--results"));
  EXPECT_THAT(protocom(folder_->path(), {"report", "out/images", "--out", "x.html"}).err,
              HasSubstr("no analysis in this folder"));
}

}  // namespace
}  // namespace protocom::testing
