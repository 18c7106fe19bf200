#include "recognizer/renew_recognizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "networks/backbone.h"
#include "recognizer/recognizer_support.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A recognizer of photos of two classes that its own photos tell apart, "mine.pcm", and encoders for two sizes of
/// images.
class RecognizerToRenew : public ::testing::Test {
 protected:
  static constexpr int64_t kSide = 32;

  void SetUp() override {
    encoder("old.npz", 16, 3);
    encoder("new.npz", 32, 4);
    for (int i = 0; i < 3; ++i) {
      photo("photos/dark/" + std::to_string(i) + ".png", static_cast<uint8_t>(20 + 10 * i));
      photo("photos/light/" + std::to_string(i) + ".png", static_cast<uint8_t>(190 + 10 * i));
    }
    RecognizerParts parts;
    parts.backbone = folder_ / "old.npz";
    parts.images = folder_ / "photos";
    create_recognizer(path_, parts, {});
  }

  void encoder(const std::string& name, int64_t side, uint64_t seed) const {
    at::manual_seed(seed);
    NetworkOptions options;
    options.architecture = "conv4";
    options.image_size = side;
    write_backbone(folder_ / name, *make_backbone(options), options, {});
  }

  void photo(const std::string& name, uint8_t grey) const {
    std::vector<uint8_t> pixels(kSide * kSide * 3, grey);
    for (size_t i = 0; i < pixels.size(); i += 7) pixels[i] = static_cast<uint8_t>(grey / 2);
    fs::create_directories((folder_ / name).parent_path());
    write_file(folder_ / name, encode_png({kSide, kSide, std::move(pixels)}));
  }

  RenewalParts renewal() const {
    RenewalParts made;
    made.parts.backbone = folder_ / "new.npz";
    return made;
  }

  /// Returns the contents of a recognizer that had the new encoder from the start.
  RecognizerContents made_at_once() const {
    RecognizerParts parts = renewal().parts;
    parts.images = folder_ / "photos";
    create_recognizer(folder_ / "at-once.pcm", parts, {});
    return RecognizerFile(folder_ / "at-once.pcm").contents();
  }

  static std::vector<float> numbers_of(const Array& array) {
    return {array.data<float>(), array.data<float>() + array.numel()};
  }

  TempDir folder_;
  fs::path path_ = folder_ / "mine.pcm";
};

TEST_F(RecognizerToRenew, HasTheFeaturesOfOneMadeWithTheNewEncoder) {
  const std::vector<std::string> thumbnails = RecognizerFile(path_).contents().thumbnails;
  const Renewal done = renew_recognizer(path_, path_, renewal(), {});
  EXPECT_EQ(done.photos, 6);
  EXPECT_EQ(done.forgotten, 0);
  const RecognizerContents renewed = RecognizerFile(path_).contents(), expected = made_at_once();
  EXPECT_NE(done.feature_dim, done.former_dim);
  EXPECT_EQ(renewed.features.size(1), done.feature_dim);
  EXPECT_EQ(numbers_of(renewed.features), numbers_of(expected.features));
  EXPECT_EQ(renewed.thumbnails, thumbnails);
  EXPECT_EQ(Recognizer::open(path_).classify(folder_ / "photos/dark/0.png").ranking.front().name, "dark");
  EXPECT_TRUE(RecognizerFile(path_).check().empty());
}

TEST_F(RecognizerToRenew, KeepsCorrectionsAndWhatCanBeUndone) {
  RecognizerFile(path_).rename_class("dark", "night");
  Recognizer recognizer = Recognizer::open(path_);
  recognizer.file().remove_examples({recognizer.file().list_examples("light").front().id});
  renew_recognizer(path_, path_, renewal(), {});
  RecognizerFile file(path_);
  EXPECT_EQ(file.list_examples("light").size(), 2U);
  EXPECT_TRUE(file.has_class("night"));
  file.undo();
  EXPECT_EQ(file.list_examples("light").size(), 3U);
  EXPECT_EQ(file.contents().features.shape(), (Shape{6, file.settings().feature_dim}));
  file.undo();
  EXPECT_TRUE(file.has_class("dark"));
}

TEST_F(RecognizerToRenew, FindsPhotosThatWereMovedByTheirContent) {
  fs::rename(folder_ / "photos", folder_ / "moved");
  EXPECT_THAT(message_of([&] { renew_recognizer(path_, path_, renewal(), {}); }),
              AllOf(HasSubstr("mine.pcm: 6 of its 6 photos were not found, such as "), HasSubstr("photos/dark/0.png"),
                    HasSubstr("of 'dark'"), HasSubstr("--images")));
  EXPECT_EQ(RecognizerFile(path_).artefacts().front().path, folder_ / "old.npz") << "nothing was changed";
  RenewalParts with_folder = renewal();
  with_folder.images = {(folder_ / "moved").string()};
  EXPECT_EQ(renew_recognizer(path_, folder_ / "other.pcm", with_folder, {}).photos, 6);
  EXPECT_EQ(RecognizerFile(path_).artefacts().front().path, folder_ / "old.npz") << "the other one was made";
  EXPECT_EQ(RecognizerFile(folder_ / "other.pcm").artefacts().front().path, folder_ / "new.npz");
}

TEST_F(RecognizerToRenew, ForgetsRemovedPhotosThatAreGone) {
  RecognizerFile file(path_);
  const ExampleInfo gone = file.list_examples("dark").front();
  file.remove_examples({gone.id});
  fs::remove(gone.source);
  EXPECT_EQ(renew_recognizer(path_, path_, renewal(), {}).forgotten, 1);
  RecognizerFile renewed(path_);
  renewed.undo();
  EXPECT_EQ(renewed.list_examples("dark").size(), 2U);
  EXPECT_TRUE(renewed.check().empty());
}

TEST_F(RecognizerToRenew, FindsBoxesOfPhotosThatWereMoved) {
  photo("boxed/1.png", 128);
  const std::string box = (folder_ / "boxed/1.png").string() + "#xywh=4,4,12,12";
  EnrolRequest request;
  request.name = "boxed";
  request.images = {box};
  Recognizer::open(path_).enrol({request});
  fs::rename(folder_ / "boxed", folder_ / "elsewhere");
  RenewalParts with_folder = renewal();
  with_folder.images = {(folder_ / "elsewhere").string()};
  EXPECT_EQ(renew_recognizer(path_, path_, with_folder, {}).photos, 7);
}

TEST_F(RecognizerToRenew, EmbedsUnlabelledPhotosToo) {
  photo("pile/1.png", 90);
  Recognizer::open(path_).add_unlabelled({folder_ / "pile/1.png"});
  EXPECT_EQ(renew_recognizer(path_, path_, renewal(), {}).photos, 7);
  EXPECT_EQ(RecognizerFile(path_).contents().unlabelled.features.size(1), RecognizerFile(path_).settings().feature_dim);
}

TEST_F(RecognizerToRenew, IsNotPutInPlaceOfAnotherFile) {
  write_file(folder_ / "other.pcm", "something else");
  EXPECT_THAT(message_of([&] { renew_recognizer(path_, folder_ / "other.pcm", renewal(), {}); }),
              HasSubstr("other.pcm"));
  EXPECT_EQ(read_file(folder_ / "other.pcm"), "something else");
}

TEST_F(SmallRecognizer, NeedsAMethodOfTheNewEncoderWhereItsOwnWasTrained) {
  RenewalParts renewal;
  renewal.parts.backbone = folder_ / "backbone.npz";
  EXPECT_THAT(message_of([&] { renew_recognizer(path_, path_, renewal, {}); }),
              HasSubstr("its method was fitted on features of the old encoder"));
}

}  // namespace
}  // namespace protocom::testing
