#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "support/python.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// Checks the most that an external file may do: one sentence, exit code 1 or 2.
void expect_one_sentence(const Outcome& outcome, const std::string& where, const std::string& what) {
  EXPECT_THAT(outcome.exit_code, AnyOf(1, 2)) << what << ": " << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(StartsWith("protocom: "), HasSubstr(where))) << what;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << what << ": " << outcome.err;
  EXPECT_LE(outcome.err.size(), 1020U) << what;
  EXPECT_THAT(outcome.err, Not(AnyOf(HasSubstr("[json.exception"), HasSubstr("std::"), HasSubstr("c10::")))) << what;
}

class Robustness : public ::testing::Test {
 protected:
  /// Makes real artefacts once: a pack, a backbone, features, knowledge and a model.
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempDir>();
    for (std::vector<std::string> arguments : std::vector<std::vector<std::string>>{
             {"synth", "photos", "--image-size", "16", "--images-per-class", "8", "--base", "8", "--val", "2",
              "--novel", "5"},
             {"pack", "photos", "--split", "photos/split.csv", "--image-size", "16", "--out", "images.pack"},
             {"knowledge", "table", "--csv", "photos/attributes.csv", "--embedding-dim", "4", "--split",
              "photos/split.csv", "--out", "knowledge.npz"},
             {"pretrain", "--images", "images.pack", "--architecture", "conv4", "--epochs", "1", "--val-episodes", "0",
              "--out", "backbone.npz"},
             {"extract", "--images", "images.pack", "--backbone", "backbone.npz", "--out", "features.npz"},
             {"complete", "--features", "features.npz", "--knowledge", "knowledge.npz", "--epochs", "1", "--batches",
              "2", "--val-episodes", "0", "--out", "model.npz"},
             {"evaluate", "--features", "features.npz", "--knowledge", "knowledge.npz", "--model", "model.npz",
              "--n-query", "3", "--episodes", "5", "--k-shot", "1", "--json", "results.json", "--save-episodes",
              "episodes.json"}}) {
      arguments.insert(arguments.end(), {"--quiet", "--threads", "1"});
      const Outcome outcome = protocom(folder_->path(), arguments);
      ASSERT_EQ(outcome.exit_code, 0) << arguments.front() << ": " << outcome.err;
    }
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static fs::path file(const std::string& name) { return folder_->path() / name; }
  static Outcome run(const std::vector<std::string>& arguments) { return protocom(folder_->path(), arguments); }

  static std::vector<std::string> evaluation() {
    return {"evaluate",   "--features", "features.npz", "--methods", "mean",    "--n-query", "3",
            "--episodes", "5",          "--k-shot",     "1",         "--quiet", "--threads", "1"};
  }
  static Outcome evaluate(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = evaluation();
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  /// Runs a shell's command line, with $PROTOCOM for the program; prints its output and returns its exit code.
  static int shell(const std::string& line) {
    const std::string program = std::getenv("PROTOCOM_PROGRAM");
    const std::string command =
        "cd '" + folder_->path().string() + "' && PROTOCOM='" + program + "' bash -c '" + line + "'";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  static std::unique_ptr<TempDir> folder_;
};

std::unique_ptr<TempDir> Robustness::folder_;

// ---- standard streams

TEST_F(Robustness, AnErrorWithoutStandardErrorIsStillAnExitCode) {
  EXPECT_EQ(shell("$PROTOCOM show missing.npz 2>&-"), 1);
  EXPECT_EQ(shell("$PROTOCOM show missing.npz 2>/dev/full"), 1);
  EXPECT_EQ(shell("$PROTOCOM --no-such-option 2>&-"), 2);
  EXPECT_EQ(shell("$PROTOCOM show missing.npz <&- >&- 2>&-"), 1);
}

TEST_F(Robustness, NoMessageLandsInAFileThatGotTheNumberOfAStandardStream) {
  EXPECT_EQ(shell("$PROTOCOM knowledge table --csv photos/attributes.csv --embedding-dim 4 --split photos/split.csv "
                  "--out k.npz --verbose <&- 2>&- > k.txt"),
            0);
  EXPECT_EQ(run({"show", "k.npz"}).exit_code, 0);
  EXPECT_EQ(shell("$PROTOCOM extract --images images.pack --backbone backbone.npz --out f.npz <&- >&- 2>&-"), 1)
      << "its results could not be printed";
  EXPECT_EQ(run({"show", "f.npz"}).exit_code, 0);
}

TEST_F(Robustness, AReaderThatHasSeenEnoughIsNoFailure) {
  EXPECT_EQ(shell("set -o pipefail; $PROTOCOM show features.npz --json | exec true"), 0);
  EXPECT_EQ(shell("set -o pipefail; (sleep 0.2; $PROTOCOM show features.npz) | head -1 > /dev/null"), 0);
  EXPECT_EQ(shell("$PROTOCOM show features.npz > /dev/full 2> full.txt"), 1);
  EXPECT_THAT(read_text(file("full.txt")), AllOf(HasSubstr("standard output"), HasSubstr("No space left")));
}

// ---- outputs

TEST_F(Robustness, AnOutputThatIsAnInputIsRefusedBeforeTheWork) {
  const std::string before = read_text(file("images.pack"));
  fs::create_symlink("images.pack", file("link.pack"));
  for (const char* out : {"images.pack", "./images.pack", "photos/../images.pack", "link.pack"}) {
    const Outcome outcome = run({"extract", "--images", "images.pack", "--backbone", "backbone.npz", "--out", out});
    EXPECT_EQ(outcome.exit_code, 2) << out;
    EXPECT_THAT(outcome.err, HasSubstr("would overwrite the input of --images")) << out;
  }
  EXPECT_TRUE(read_text(file("images.pack")) == before);
  EXPECT_EQ(evaluate({"--json", "x.json", "--save-episodes", "x.json"}).exit_code, 2);
  EXPECT_THAT(evaluate({"--space", "space.npz", "--json", "space.npz"}).err,
              HasSubstr("would overwrite the input of --space"));
}

TEST_F(Robustness, AnOutputThatCannotBeIsRefusedBeforeTheWork) {
  EXPECT_EQ(evaluate({"--json", ""}).exit_code, 2);
  EXPECT_THAT(evaluate({"--json", "photos"}).err, HasSubstr("it is a folder"));
  EXPECT_THAT(evaluate({"--json", std::string(256, 'n')}).err, HasSubstr("name too long"));
  const std::string long_name(240, 'n');
  EXPECT_EQ(evaluate({"--json", long_name}).exit_code, 0);
  EXPECT_TRUE(fs::exists(file(long_name)));
}

TEST_F(Robustness, DevicesPipesAndLinksStayWhatTheyAre) {
  EXPECT_EQ(evaluate({"--json", "/dev/null"}).exit_code, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(shell("cat pipe > from-pipe.json & $PROTOCOM evaluate --features features.npz --methods mean --n-query 3 "
                  "--episodes 5 --k-shot 1 --quiet --json pipe > /dev/null; wait"),
            0);
  EXPECT_TRUE(fs::is_fifo(file("pipe")));
  EXPECT_TRUE(json::parse(read_text(file("from-pipe.json"))).contains("results"));

  write_text(file("real.json"), "old");
  fs::permissions(file("real.json"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real.json", file("alias.json"));
  EXPECT_EQ(evaluate({"--json", "alias.json"}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(file("alias.json")));
  EXPECT_TRUE(json::parse(read_text(file("real.json"))).contains("results"));
  EXPECT_EQ(fs::status(file("real.json")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Robustness, ATrainingLeavesItsNeighboursAlone) {
  const std::vector<std::string> neighbours = {"b.npz.part-11", "b.npz.tmp-20241231", "b.npz.tmp-20241231-backup/x",
                                               "b.npz.tmp-99999-0"};
  for (const std::string& name : neighbours) {
    fs::create_directories(file(name).parent_path());
    write_text(file(name), "precious");
  }
  EXPECT_EQ(run({"pretrain", "--images", "images.pack", "--architecture", "conv4", "--epochs", "1", "--val-episodes",
                 "0", "--out", "b.npz", "--quiet", "--threads", "1"})
                .exit_code,
            0);
  for (const std::string& name : neighbours) EXPECT_EQ(read_text(file(name)), "precious") << name;
}

// A limit on the size of files fails like a full disk, and needs no root.
TEST_F(Robustness, AFullDiskLeavesTheOldOutputAndNothingElse) {
  ASSERT_EQ(shell("mkdir full; cp knowledge.npz results.json full"), 0);
  const std::string knowledge = read_text(file("full/knowledge.npz")), results = read_text(file("full/results.json"));
  EXPECT_EQ(shell("ulimit -f 1; $PROTOCOM knowledge table --csv photos/attributes.csv --embedding-dim 64 --split "
                  "photos/split.csv --out full/knowledge.npz > /dev/null 2> full.txt"),
            1);
  EXPECT_THAT(read_text(file("full.txt")),
              AllOf(StartsWith("protocom: cannot write"), HasSubstr("full/knowledge.npz")));
  EXPECT_EQ(shell("ulimit -f 1; $PROTOCOM evaluate --features features.npz --methods mean --n-query 3 --episodes 50 "
                  "--k-shot 1 --quiet --json full/results.json > /dev/null 2> full.txt"),
            1);
  EXPECT_THAT(read_text(file("full.txt")), AllOf(StartsWith("protocom: cannot write"), HasSubstr("full/results.json")));
  EXPECT_TRUE(read_text(file("full/knowledge.npz")) == knowledge);
  EXPECT_TRUE(read_text(file("full/results.json")) == results);
  EXPECT_THAT(files_below(file("full")), ::testing::ElementsAre("knowledge.npz", "results.json"));
}

// ---- files from outside

TEST_F(Robustness, ConfigurationsWithEmptyListsAreRefusedWithTheirLine) {
  for (const char* text : {"[knowledge]\nsource = []\n", "[extract]\nafter = []\n", "[pack]\nout = []\n"}) {
    write_text(file("list.toml"), text);
    expect_one_sentence(run({"run", "list.toml"}), "list.toml:2", text);
  }
  for (const char* name : {"../../../x", "a/b", ".hidden", "-x", ""}) {
    write_text(file("name.toml"), std::string("[[evaluate]]\nname = \"") + name + "\"\n");
    expect_one_sentence(run({"run", "name.toml"}), "name.toml:2", name);
  }
}

TEST_F(Robustness, JsonNestedDeepIsRefusedWhereverItIsRead) {
  const std::string deep = std::string(80'000, '[') + std::string(80'000, ']');
  write_text(file("deep.json"), deep);
  write_text(file("deep-header.json"), "{\"header\": " + deep + "}");
  write_text(file("deep-analysis.json"), "{\"analysis\": " + deep + "}");
  write_text(file("deep-results.json"), "{\"results\": [{\"method\": " + deep + "}]}");
  for (const char* name : {"deep.json", "deep-header.json", "deep-analysis.json", "deep-results.json"}) {
    expect_one_sentence(run({"report", name, "--out", "r.html"}), name, "report");
    expect_one_sentence(run({"evaluate", "--features", "features.npz", "--episodes-file", name}), name, "evaluate");
  }
  expect_one_sentence(run({"show", "deep-header.json"}), "deep-header.json", "show");
  EXPECT_EQ(run_python(folder_->path(), R"(
import zipfile, struct
deep = '[' * 80000 + ']' * 80000
for name in ['features', 'model', 'knowledge', 'backbone']:
    with zipfile.ZipFile(name + '.npz') as old, zipfile.ZipFile('deep-' + name + '.npz', 'w') as new:
        for member in old.namelist():
            new.writestr(member, '{"kind": ' + deep + '}' if member == 'header.json' else old.read(member))
header = ('{"__metadata__": ' + deep + '}').encode()
open('deep.safetensors', 'wb').write(struct.pack('<Q', len(header)) + header)
)"),
            "");
  expect_one_sentence(run({"show", "deep-features.npz"}), "deep-features.npz", "show");
  expect_one_sentence(run({"show", "deep.safetensors"}), "deep.safetensors", "show");
  expect_one_sentence(run({"evaluate", "--features", "deep-features.npz", "--methods", "mean"}), "deep-features.npz",
                      "features");
  expect_one_sentence(evaluate({"--methods", "completed", "--model", "deep-model.npz", "--knowledge", "knowledge.npz"}),
                      "deep-model.npz", "model");
  expect_one_sentence(evaluate({"--methods", "completed", "--model", "model.npz", "--knowledge", "deep-knowledge.npz"}),
                      "deep-knowledge.npz", "knowledge");
  expect_one_sentence(run({"extract", "--images", "images.pack", "--backbone", "deep-backbone.npz", "--out", "x.npz"}),
                      "deep-backbone.npz", "backbone");
}

TEST_F(Robustness, ARecordOfAStageThatIsDamagedMakesTheStageRunAgain) {
  write_text(file("records.toml"),
             "out = \"records\"\n[pack]\nimages = \"photos\"\nsplit = \"photos/split.csv\"\n"
             "image-size = 16\n");
  ASSERT_EQ(run({"run", "records.toml", "--quiet"}).exit_code, 0);
  for (const std::string& damage : {std::string(80'000, '['), std::string("{\"options\": 3}"), std::string("3"),
                                    std::string("\xff\xfe"), std::string()}) {
    write_text(file("records/.stages/pack.json"), damage);
    const Outcome outcome = run({"run", "records.toml", "--quiet"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("not made yet"));
  }
}

TEST_F(Robustness, ACompletionModelThatHoldsNaNGivesNoAccuracy) {
  EXPECT_EQ(run_python(folder_->path(), R"(
import zipfile
with zipfile.ZipFile('model.npz') as old, zipfile.ZipFile('nan.npz', 'w') as new:
    for member in old.namelist():
        data = old.read(member)
        new.writestr(member, data[:-4] + b'\0\0\xc0\x7f' if member == 'attribute_mean.npy' else data)
)"),
            "");
  expect_one_sentence(evaluate({"--methods", "completed", "--model", "nan.npz", "--knowledge", "knowledge.npz"}),
                      "nan.npz", "NaN");
}

TEST_F(Robustness, NamesThatAreNotUtf8LeaveAllOutputsOrNone) {
  write_text(file("latin1.csv"),
             "class,attribute\nz\xe9"
             "bre,rayures\nchat,queue\n");
  write_text(file("latin1-split.csv"),
             "class,split\nz\xe9"
             "bre,base\nchat,novel\n");
  const std::vector<std::string> table = {"knowledge",       "table", "--csv",   "latin1.csv",
                                          "--embedding-dim", "4",     "--split", "latin1-split.csv",
                                          "--out",           "l.npz"};
  EXPECT_EQ(run(table).exit_code, 0);
  fs::remove(file("l.npz"));
  std::vector<std::string> with_graph = table;
  with_graph.insert(with_graph.end(), {"--json", "l.json", "--quiet"});
  expect_one_sentence(run(with_graph), "l.json", "Latin-1");
  EXPECT_FALSE(fs::exists(file("l.npz")));
  EXPECT_FALSE(fs::exists(file("l.json")));
}

TEST_F(Robustness, TextFromFilesCannotSteerTheTerminal) {
  write_text(file("escape.csv"), "class,\x1b[2Jattribute\nzebra,tail\n");
  const Outcome outcome = run({"knowledge", "table", "--csv", "escape.csv", "--embedding-dim", "4", "--split",
                               "photos/split.csv", "--out", "e.npz"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("escape.csv"), Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace protocom::testing
