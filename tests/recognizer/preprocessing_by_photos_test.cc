#include "recognizer/preprocessing_by_photos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encoders/encoder.h"
#include "images/preprocessing.h"
#include "io/files.h"
#include "recognizer/create_recognizer.h"
#include "store/recognizer_file.h"
#include "support/colour_encoder.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/painted_images.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kSide = 16;

/// Two classes that differ in dark red and green, which every preset except `plain` maps below 0, where the encoder is
/// blind; their blue varies between photos in the same way in both.
class PreprocessingByPhotos : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(folder_ / "encoder.onnx", clipped_colour_encoder(kSide));
    write_photos(5);
  }

  void write_photos(int of_each) {
    fs::remove_all(folder_ / "photos");
    for (int i = 0; i < of_each; ++i) {
      write_photo(fmt::format("dark/{}.png", i), {20, 20, 190 + 5 * i});
      write_photo(fmt::format("less/{}.png", i), {50, 50, 190 + 5 * i});
    }
  }

  void write_photo(const std::string& name, const Pixel& colour) {
    write_file(folder_ / "photos" / name, encode_png(painted(kSide, kSide, [&](int64_t, int64_t) { return colour; })));
  }

  /// Returns what is logged while a recognizer "new.pcm" is made with this preset.
  std::string logged_with(const std::string& preset) {
    RecognizerParts parts;
    parts.backbone = folder_ / "encoder.onnx";
    parts.images = folder_ / "photos";
    parts.preprocessing = preset;
    const Logged logged;
    fs::remove(folder_ / "new.pcm");
    create_recognizer(folder_ / "new.pcm", parts, {});
    return logged.text();
  }

  Preprocessing taken() { return RecognizerFile(folder_ / "new.pcm").settings().preprocessing; }

  TempDir folder_;
};

TEST_F(PreprocessingByPhotos, IsTheOneByWhichMostAreRightWhereNothingIsSaid) {
  EXPECT_THAT(logged_with(""), AllOf(HasSubstr("encoder.onnx does not state its preprocessing: using 'plain:size=16'"),
                                     HasSubstr("10 of 10 photos"), Not(HasSubstr("equally good"))));
  EXPECT_TRUE(taken() == parse_preprocessing("plain:size=16")) << describe(taken());
}

TEST_F(PreprocessingByPhotos, AGivenOneIsKeptWithAWarningWhereAnotherIsClearlyBetter) {
  EXPECT_THAT(logged_with("half"),
              AllOf(HasSubstr("--preprocess half may be the wrong one"), HasSubstr("with plain:size=16 10 of 10")));
  EXPECT_TRUE(taken() == parse_preprocessing("half:size=16")) << "what is given is used";
  EXPECT_THAT(logged_with("plain"), Not(HasSubstr("may be the wrong one")));
}

TEST_F(PreprocessingByPhotos, NeedsTwoPhotosOfTwoClasses) {
  write_photos(1);
  EXPECT_THAT(message_of([&] { logged_with(""); }), HasSubstr("does not state its preprocessing: give --preprocess"));
  EXPECT_FALSE(fs::exists(folder_ / "new.pcm"));
  EXPECT_THAT(logged_with("half"), Not(HasSubstr("may be the wrong one")));
}

TEST_F(PreprocessingByPhotos, AFileThatSaysWhatItTakesIsBelieved) {
  write_file(folder_ / "encoder.onnx", colour_encoder(kSide, stated_side(kSide)));
  EXPECT_THAT(logged_with(""), Not(HasSubstr("does not state")));
  EXPECT_TRUE(taken() == parse_preprocessing("plain:size=16"));
  EXPECT_THAT(logged_with("half"), Not(HasSubstr("may be the wrong one")));
}

TEST_F(PreprocessingByPhotos, LooksAtFewPhotos) {
  write_photos(12);
  EXPECT_THAT(logged_with(""), HasSubstr("10 of 10 photos")) << "five of each class";
}

TEST_F(PreprocessingByPhotos, SaysWhereTheyDoNotTellPresetsApart) {
  fs::remove_all(folder_ / "photos");
  for (int i = 0; i < 5; ++i) {
    write_photo(fmt::format("red/{}.png", i), {250, 3 * i, 0});
    write_photo(fmt::format("blue/{}.png", i), {0, 3 * i, 250});
  }
  EXPECT_THAT(logged_with(""),
              AllOf(HasSubstr("using 'imagenet:size=16'"), HasSubstr("equally good"), HasSubstr("plain:size=16")));
}

}  // namespace
}  // namespace protocom::testing
