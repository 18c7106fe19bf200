#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "io/files.h"
#include "support/colour_encoder.h"
#include "support/environment.h"
#include "support/painted_images.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kEncoderSide = 16;

/// Photos of two colours, and an encoder of colours that is installed as the default one.
class EncoderCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(encoders_ / "test-colours.onnx", colour_encoder(kEncoderSide, stated_side(kEncoderSide)));
    for (int i = 0; i < 3; ++i) {
      write_photo(fmt::format("photos/red/{}.png", i), {200 + 10 * i, 30 + 7 * i, 20});
      write_photo(fmt::format("photos/blue/{}.png", i), {20, 40 + 9 * i, 190 + 11 * i});
    }
  }

  void write_photo(const std::string& name, const Pixel& colour) {
    write_file(folder_ / name,
               encode_png(painted(kEncoderSide, kEncoderSide, [&](int64_t, int64_t) { return colour; })));
  }

  Outcome run(const std::vector<std::string>& arguments) { return protocom(folder_.path(), arguments); }

  TempDir folder_;
  fs::path encoders_ = folder_ / "installed";
  Environment installed_{"PROTOCOM_ENCODERS", encoders_.string()};
  Environment data_{"XDG_DATA_HOME", (folder_ / "data").string()};
  Environment default_{"PROTOCOM_ENCODER", "test-colours"};
};

TEST_F(EncoderCommands, TheDefaultIsTakenWhereNoneIsNamedAndSaid) {
  const std::string said = "encoder: test-colours (default; --backbone for another)";
  const Outcome made = run({"recognizer", "create", "mine.pcm", "--images", "photos"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr(said));
  EXPECT_THAT(run({"classify", "mine.pcm", "photos/red", "--format", "csv"}).out, HasSubstr("photos/red/0.png,red"));
  EXPECT_THAT(run({"fit", "--unlabelled", "photos", "--out", "space.npz"}).err, HasSubstr(said));
  write_text(folder_ / "split.csv", "class,split\nred,base\nblue,base\n");
  const Outcome extracted = run({"extract", "photos", "--split", "split.csv", "--out", "f.npz"});
  ASSERT_EQ(extracted.exit_code, 0) << extracted.err;
  EXPECT_EQ(extracted.err.find(said), extracted.err.rfind(said)) << "once";
  EXPECT_THAT(extracted.err, HasSubstr(said));
}

TEST_F(EncoderCommands, ExtractRunsTheEngineThatIsAskedFor) {
  const Environment nowhere("PROTOCOM_ONNXRUNTIME", (folder_ / "nowhere").string());
  write_text(folder_ / "split.csv", "class,split\nred,base\nblue,base\n");
  const auto extracted = [&](const std::string& engine) {
    return run({"--engine", engine, "extract", "photos", "--split", "split.csv", "--out", "f.npz"});
  };
  const Outcome refused = extracted("onnxruntime");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr((folder_ / "nowhere").string()));
  const Outcome done = extracted("torch");
  EXPECT_EQ(done.exit_code, 0) << done.err;
}

TEST_F(EncoderCommands, ANameStandsForAnEncoderWhereverAPathDoes) {
  write_file(encoders_ / "test-doubled.onnx", colour_encoder(kEncoderSide, stated_side(kEncoderSide), 2));
  const Environment other("PROTOCOM_ENCODER", "nobodys-encoder");
  const Outcome made = run({"recognizer", "create", "mine.pcm", "--backbone", "test-doubled", "--images", "photos"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, Not(HasSubstr("default")));
  write_text(folder_ / "split.csv", "class,split\nred,base\nblue,base\n");
  const Outcome extracted =
      run({"extract", "photos", "--split", "split.csv", "--backbone", "test-doubled", "--out", "f.npz"});
  EXPECT_EQ(extracted.exit_code, 0) << extracted.err;
  const Outcome missing = run({"recognizer", "create", "more.pcm", "--backbone", "test-doubl", "--images", "photos"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("did you mean 'test-doubled'"));
  EXPECT_FALSE(fs::exists(folder_ / "more.pcm"));
  write_text(folder_ / "c.toml", "out = \"o\"\n[extract]\nimages = \"photos\"\nbackbone = \"test-doubled\"\n");
  EXPECT_THAT(run({"run", "c.toml", "--commands"}).out,
              HasSubstr("--backbone=" + (encoders_ / "test-doubled.onnx").string()));
}

TEST_F(EncoderCommands, ListWhatIsInstalledAndKnown) {
  write_text(encoders_ / "notes.txt", "no encoder");
  const Outcome listed = run({"encoders"});
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(listed.out,
              AllOf(HasSubstr((encoders_ / "test-colours.onnx").string()), HasSubstr("The default is test-colours."),
                    HasSubstr("efficientnet-lite0"), HasSubstr("notes.txt"), HasSubstr("81.3")));
  const json all = json::parse(run({"encoders", "--json"}).out);
  EXPECT_EQ(all["default"], "test-colours");
  EXPECT_EQ(all["installed"].back()["name"], "test-colours");
  EXPECT_EQ(all["known"].front()["name"], "efficientnet-lite0");
  EXPECT_EQ(all["known"].front()["birds"]["one_shot"], 81.3);
}

TEST_F(EncoderCommands, AddInstallsUnderAName) {
  write_file(folder_ / "mine.onnx", colour_encoder(kEncoderSide, stated_side(kEncoderSide), 3));
  const Outcome added = run({"encoders", "add", "test-mine", "mine.onnx"});
  ASSERT_EQ(added.exit_code, 0) << added.err;
  EXPECT_THAT(added.out, AllOf(HasSubstr("--backbone test-mine"), Not(HasSubstr("known"))));
  EXPECT_EQ(read_file(folder_ / "data/protocom/encoders/test-mine.onnx"), read_file(folder_ / "mine.onnx"));
  EXPECT_EQ(run({"encoders", "add", "test-mine", "mine.onnx"}).exit_code, 1);
  EXPECT_EQ(run({"encoders", "add", "test-mine", "mine.onnx", "--replace"}).exit_code, 0);
  const Outcome refused = run({"encoders", "add", "test/mine", "mine.onnx"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("test/mine"));
}

// A folder alone
// ---------------------------------------------------------------------------------------------------------

TEST_F(EncoderCommands, AFolderWithWhatCannotBeReadBecomesARecognizerAllTheSame) {
  write_text(folder_ / "photos/red/cut.png", "\x89PNG\r\n");
  fs::create_directories(folder_ / "photos/empty");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"photos"}, {"recognizer", "create", "mine.pcm", "--images", "photos"}}) {
    const Outcome made = run(command);
    EXPECT_EQ(made.exit_code, 1) << "as some photos were left out";
    EXPECT_THAT(made.out, HasSubstr("2 classes, 6 photos, no base classes: "));
    EXPECT_THAT(made.err, AllOf(HasSubstr("cut.png"), HasSubstr("1 of the images could not be read")));
  }
  fs::remove(folder_ / "photos.pcm");
  EXPECT_THAT(run({"photos"}).out, HasSubstr("Created photos.pcm."));
}

TEST_F(EncoderCommands, AFolderAloneBecomesARecognizerOfItsName) {
  const Outcome made = run({"photos/"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out,
              AllOf(HasSubstr("2 classes, 6 photos, no base classes: "),
                    HasSubstr("protocom classify photos.pcm PHOTOS\n"), HasSubstr("protocom serve photos.pcm\n")));
  EXPECT_THAT(run({"classify", "photos.pcm", "photos/blue", "--format", "csv"}).out,
              HasSubstr("photos/blue/1.png,blue"));
  const std::string before = read_text(folder_ / "photos.pcm");
  const Outcome again = run({"photos"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("photos.pcm is already there"));
  EXPECT_EQ(read_text(folder_ / "photos.pcm"), before);
}

TEST_F(EncoderCommands, AFolderAloneTakesTheOptionsOfNewAndIsQuotedForAShell) {
  fs::rename(folder_ / "photos", folder_ / "my birds");
  const Environment other("PROTOCOM_ENCODER", "nobodys-encoder");
  const Outcome made = run({"my birds", "--backbone", "test-colours"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("protocom serve 'my birds.pcm'\n"));
  EXPECT_TRUE(fs::exists(folder_ / "my birds.pcm"));
}

TEST_F(EncoderCommands, AFolderThatTellsNoClassesApartLeavesNoFile) {
  const auto refused = [&](const std::string& folder) {
    const Outcome outcome = run({folder});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / (folder + ".pcm")));
    return outcome.err;
  };
  fs::create_directories(folder_ / "empty");
  EXPECT_THAT(refused("empty"), HasSubstr("empty: expected a subfolder of images for each class"));
  fs::create_directories(folder_ / "hollow/red");
  EXPECT_THAT(refused("hollow"), HasSubstr("nothing was enrolled"));
  fs::create_directories(folder_ / "one");
  fs::rename(folder_ / "photos/red", folder_ / "one/red");
  EXPECT_THAT(refused("one"), HasSubstr("one has photos of only one class, 'red'"));
}

TEST_F(EncoderCommands, AWordThatIsNeitherFolderNorCommandIsSaid) {
  EXPECT_THAT(run({"my-fotos"}).err, HasSubstr("unknown command 'my-fotos', and no folder has that name"));
  EXPECT_THAT(run({"clssify"}).err, HasSubstr("did you mean 'classify'?"));
  fs::rename(folder_ / "photos", folder_ / "encoders");
  EXPECT_THAT(run({"encoders"}).out, HasSubstr("installed")) << "a command is a command";
}

}  // namespace
}  // namespace protocom::testing
