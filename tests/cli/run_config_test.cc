#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "support/painted_images.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

class RunConfig : public ::testing::Test {
 protected:
  Outcome plan(const std::string& config, const std::vector<std::string>& more = {}) {
    write_text(folder_ / "c.toml", config);
    std::vector<std::string> arguments = {"run", "c.toml", "--dry-run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return protocom(folder_.path(), arguments);
  }
  void expect_refused(const std::string& config, const std::string& stated, const std::vector<std::string>& more = {}) {
    const Outcome outcome = plan(config, more);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(stated));
  }
  TempDir folder_;
};

TEST_F(RunConfig, NamesTheLineOfAnUnknownTable) {
  expect_refused("out = \"o\"\n\n[pretrian]\nepochs = 1\n",
                 "c.toml:3: unknown table [pretrian]; did you mean 'pretrain'?");
}

TEST_F(RunConfig, NamesTheLineOfAnUnknownKey) {
  expect_refused("[synth]\nseed = 1\nimage-sise = 32\n",
                 "c.toml:3: [synth] has no option 'image-sise'; did you mean 'image-size'?");
  expect_refused("ouput = \"o\"\n[synth]\n", "c.toml:1: unknown key 'ouput'");
}

TEST_F(RunConfig, NamesTheLineOfASyntaxError) { expect_refused("[synth]\nseed = \n", "c.toml:2: not valid TOML"); }

TEST_F(RunConfig, RefusesAValueThatItsCommandRefuses) {
  expect_refused("[synth]\nseed = \"one\"\n", "c.toml:1: [synth]");
}

TEST_F(RunConfig, RefusesASeedThatIsNoWholeNumber) {
  for (const char* seed : {"-1", "1.5", "2e51", "\"3\""})
    expect_refused(std::string("out = \"o\"\nseed = ") + seed + "\n[synth]\n",
                   "c.toml:2: seed: expected a whole number of at least 0");
}

TEST_F(RunConfig, RefusesAVariableThatIsNotSet) {
  expect_refused("[pack]\nimages = \"${data}\"\n", "c.toml:2: ${data} is not set; add --set data=...");
}

TEST_F(RunConfig, RefusesASettingThatNothingUses) {
  expect_refused("[pack]\nimages = \"${data}\"\n", "--set dta=...", {"--set", "data=x", "--set", "dta=y"});
  expect_refused("[synth]\n", "no table [pack]", {"--set", "pack.image-size=3"});
}

TEST_F(RunConfig, ASettingReplacesAValueOfTheFile) {
  write_text(folder_ / "c.toml", "out = \"o\"\nseed = 3\n[synth]\nimage-size = 32\n");
  const Outcome outcome =
      protocom(folder_.path(), {"run", "c.toml", "--commands", "--set", "synth.image-size=48", "--set", "out=p"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "protocom synth --image-size=48 --seed=3 p/images\n");
}

TEST_F(RunConfig, WiresStagesToTheArtefactsBeforeThemInWhateverOrderTheyStand) {
  write_text(folder_ / "sub/c.toml",
             "out = \"o\"\n[extract]\nbackbone = \"b.pt\"\n[pack]\nimages = \"photos\"\nlayout = \"folder\"\n");
  const Outcome outcome = protocom(folder_.path(), {"run", "sub/c.toml", "--commands"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "protocom pack --images=sub/photos --layout=folder --out=o/images.pack --save-split=o/split.csv\n"
            "protocom extract --backbone=sub/b.pt --images=o/images.pack --out=o/features.npz\n");
}

TEST_F(RunConfig, SaysWhichStageFailedAndLeavesItsArtefactOut) {
  write_text(folder_ / "c.toml", "out = \"o\"\n[pack]\nimages = \"photos\"\n");
  const Outcome outcome = protocom(folder_.path(), {"run", "c.toml"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("[pack]"));
  EXPECT_THAT(outcome.err, HasSubstr("photos"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "o/images.pack"));
}

TEST_F(RunConfig, AQuestionOfOneStageIsNotThatOfTheNext) {
  std::string list = "annotation_id,annotator,id,image,animal,weather\n";
  for (int i = 0; i < 4; ++i) {
    const std::string number = std::to_string(i);
    write_text(folder_ / "photos" / (number + ".jpg"), encode_jpeg(ramp(8, 8), 90));
    list += number + ",1," + number + "," + number + ".jpg,animal " + number + ",sunny\n";
  }
  write_text(folder_ / "photos/export.csv", list);
  write_text(folder_ / "split.csv", "class,split\nanimal 0,base\nanimal 1,base\nanimal 2,val\nanimal 3,novel\n");
  const std::string images = "images = \"photos\"\nsplit = \"split.csv\"\nimage-size = 8\n";
  write_text(folder_ / "c.toml",
             "out = \"o\"\n[pack]\n" + images + "question = \"animal\"\n[pretrain]\nepochs = 1\n" + images);
  const Outcome outcome = protocom(folder_.path(), {"run", "c.toml"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("[pretrain] "));
  EXPECT_THAT(outcome.err, HasSubstr("several questions (animal, weather)"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "o/images.pack")) << outcome.err;
}

TEST_F(RunConfig, EveryConfigurationThatComesWithTheProgramIsValid) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PROTOCOM_CONFIGS)) {
    const std::string text = read_text(entry.path());
    std::vector<std::string> arguments = {"run", entry.path().string(), "--commands"};
    // The variables that the configurations leave to the user.
    for (const char* name : {"data", "split", "vectors", "encoder", "features", "knowledge"}) {
      if (text.find(std::string("${") + name + "}") == std::string::npos) continue;
      arguments.insert(arguments.end(), {"--set", std::string(name) + "=/data"});
    }
    const Outcome outcome = protocom(folder_.path(), arguments);
    EXPECT_EQ(outcome.exit_code, 0) << entry.path() << ": " << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("protocom evaluate")) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 9);
}

TEST_F(RunConfig, AKeyOfManyPartsIsRefusedBeforeItFillsTheStack) {
  std::string deep = "a";
  for (int i = 0; i < 40'000; ++i) deep += ".a";
  const std::string stated = "c.toml:3: a key has more than 10 parts";
  expect_refused("# a.b\n[synth]\n" + deep + " = 1\n", stated);
  expect_refused("[synth]\n\n[" + deep + "]\n", stated);
  expect_refused("seed = \"\"\"1.\n\"\"\"\nx = { " + deep + " = 1 }\n", stated);
  expect_refused("[synth]\nimages = [\"a.b.c.d.e.f.g.h.i.j.k.l.m\"]\n", "no option 'images'");
}

TEST_F(RunConfig, VariablesThatDoubleOneAnotherAreRefusedBeforeTheyFillTheMemory) {
  std::string config = "[variables]\na = \"xxxxxxxx\"\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    config += std::string(1, c) + " = \"${" + before + "}${" + before + "}\"\n";
  }
  expect_refused(config + "[synth]\n", "with its variables replaced, a value has more than 64 KiB");
}

TEST_F(RunConfig, MoreStagesThanAnybodyNeedsAreRefusedAtOnce) {
  std::string config;
  for (int i = 0; i < 30'000; ++i) config += "[[evaluate]]\nname = \"n" + std::to_string(i) + "\"\n";
  expect_refused(config, "a configuration has at most 1000 stages");
}

}  // namespace
}  // namespace protocom::testing
