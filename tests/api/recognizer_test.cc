// Recognizers, encoders and the server through the installed headers alone.
#include "protocom/recognizer.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "api/api_support.h"
#include "protocom/backbone.h"
#include "protocom/server.h"
#include "protocom/train.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ApiRecognizer : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    encoder(file("encoder.npz"));
  }

  [[nodiscard]] Recognizer birds(const RecognizerOptions& options = {}) const {
    RecognizerParts parts;
    parts.backbone = file("encoder.npz");
    Recognizer made = Recognizer::create(file("birds.pcm"), parts, options);
    made.enrol("cardinal", reds());
    made.enrol("bluebird", {photo(file("4.png"), 10, 220, 4), Image::encoded(png(20, 210, 5)), pixels_of(10, 200, 6)});
    return made;
  }

  [[nodiscard]] std::vector<Image> reds() const {
    return {photo(file("1.png"), 220, 10, 1), Image::encoded(png(210, 20, 2)), pixels_of(200, 10, 3)};
  }

  static Image pixels_of(uint8_t red, uint8_t blue, int seed) {
    const std::vector<uint8_t> rgb = pixels(red, blue, seed);
    return Image::rgb(rgb.data(), kSide, kSide);
  }
};

TEST_F(ApiRecognizer, IsWrittenAsAnOnnxFile) {
  Recognizer own = birds();
  EXPECT_GT(own.export_onnx(file("birds.onnx")).bytes, 0) << "of an encoder that is not ONNX, too";
  OnnxExportOptions options;
  options.features = true;
  const OnnxExport made = own.export_onnx(file("birds.onnx"), options);
  EXPECT_EQ(made.classes, 2);
  EXPECT_THAT(made.outputs, HasSubstr("probabilities [n, 2]"));
  EXPECT_THAT(made.warnings, SizeIs(1)) << "it is not calibrated";
  EXPECT_EQ(made.labels, file("birds.labels.txt"));
}

TEST_F(ApiRecognizer, WarnsOfAPhotoThatIsInAnotherClassToo) {
  Recognizer own = birds();
  EXPECT_THAT(own.enrol("third", {reds().front()}).warnings,
              ElementsAre(HasSubstr("1 image of third is in 'cardinal' too")));
}

TEST_F(ApiRecognizer, TellsWhatItsFirstEnrolmentLeftOut) {
  for (const char* name : {"photos/red", "photos/blue"}) std::filesystem::create_directories(file(name));
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(photo(file("photos/red/" + std::to_string(i) + ".png"), 220, 10, i));
    static_cast<void>(photo(file("photos/blue/" + std::to_string(i) + ".png"), 10, 220, 9 + i));
  }
  std::ofstream(file("photos/red/broken.png")) << "no picture";
  RecognizerParts parts;
  parts.backbone = file("encoder.npz");
  parts.images = file("photos");
  const Recognizer made = Recognizer::create(file("first.pcm"), parts);
  EXPECT_EQ(made.first_enrolment().classes.size(), 2U);
  ASSERT_THAT(made.first_enrolment().unreadable, SizeIs(1));
  EXPECT_THAT(made.first_enrolment().unreadable.front().reason, HasSubstr("broken.png"));
  EXPECT_THAT(Recognizer::open(file("first.pcm")).first_enrolment().classes, ::testing::IsEmpty());
}

TEST_F(ApiRecognizer, EnrolsAClassThatIsDescribedInWords) {
  const TextEncoder words(clip(file("clip")));
  EXPECT_EQ(words.dim(), 24);
  EXPECT_TRUE(words.compares_with_images());
  const EncodedTexts made = words.encode({"a bird", "a red bird"});
  EXPECT_EQ(made.vectors.rows, 2);
  EXPECT_EQ(made.vectors.columns, 24);
  EXPECT_THAT(made.warnings, ::testing::IsEmpty());
  RecognizerParts parts;
  parts.backbone = parts.text_encoder = file("clip");
  Recognizer own = Recognizer::create(file("described.pcm"), parts);
  ClassRequest cardinal("cardinal");
  cardinal.descriptions = {"a red bird", "it is red"};
  EXPECT_TRUE(own.enrol(cardinal, {}, &words).classes.at(0).is_new);
  std::string endless;
  for (int i = 0; i < 300; ++i) endless += "bird ";
  ClassRequest bluebird("bluebird");
  bluebird.descriptions = {endless};
  const Enrolment cut = own.enrol(bluebird, {pixels_of(10, 200, 6)}, &words);
  EXPECT_EQ(cut.classes.at(0).added, 1);
  ASSERT_THAT(cut.warnings, SizeIs(1));
  EXPECT_THAT(cut.warnings.front(), HasSubstr("longer than the encoder's"));
  EXPECT_THAT(own.classify(pixels_of(10, 200, 7)).ranking, SizeIs(2));
  EXPECT_THAT(said_by([&] { own.enrol("jay", {}, &words); }), HasSubstr("'jay': expected at least one description"));
  ClassRequest jay("jay");
  jay.descriptions = {"  "};
  EXPECT_THAT(said_by([&] { own.enrol(jay, {}, &words); }), HasSubstr("empty"));
  jay.descriptions = {"a bird"};
  EXPECT_THAT(said_by([&] { own.enrol(jay); }), HasSubstr("descriptions need the text encoder"));
  EXPECT_THAT(said_by([&] { birds().enrol(jay, {}, &words); }), HasSubstr("no knowledge"));
  EXPECT_THAT(said_by([&] { TextEncoder(file("nowhere")); }), HasSubstr("nowhere"));
}

TEST_F(ApiRecognizer, EnrolsAndClassifiesImagesInEveryForm) {
  Recognizer own = birds();
  EXPECT_EQ(own.classify(photo(file("5.png"), 215, 15, 7)).name(), "cardinal");
  EXPECT_EQ(own.classify(Image::encoded(png(15, 215, 8))).name(), "bluebird");
  EXPECT_EQ(own.classify(pixels_of(205, 12, 9)).name(), "cardinal");
  const Answers answers = own.classify({pixels_of(205, 12, 9), pixels_of(12, 205, 9)});
  ASSERT_THAT(answers.answers, SizeIs(2));
  EXPECT_EQ(answers[1].name(), "bluebird");
  EXPECT_NEAR(answers[0].ranking[0].probability + answers[0].ranking[1].probability, 1, 1e-6);
  EXPECT_THAT(answers[0].nearest, SizeIs(3));
  EXPECT_FALSE(answers[0].none_of_these) << "nothing is said of that without a calibration";
}

TEST_F(ApiRecognizer, OneImageInThreeFormsIsOneImage) {
  Recognizer own = birds();
  const std::vector<uint8_t> rgb = pixels(100, 90, 5);
  const Answer of_file = own.classify(photo(file("x.png"), 100, 90, 5));
  EXPECT_EQ(own.classify(Image::encoded(png(100, 90, 5))).familiarity, of_file.familiarity);
  EXPECT_EQ(own.classify(Image::rgb(rgb.data(), kSide, kSide)).familiarity, of_file.familiarity);
  std::vector<uint8_t> wide;  // rows with four bytes behind each
  for (int64_t y = 0; y < kSide; ++y) {
    wide.insert(wide.end(), rgb.begin() + y * 3 * kSide, rgb.begin() + (y + 1) * 3 * kSide);
    wide.insert(wide.end(), 4, 255);
  }
  EXPECT_EQ(own.classify(Image::rgb(wide.data(), kSide, kSide, 3 * kSide + 4)).familiarity, of_file.familiarity);
}

TEST_F(ApiRecognizer, FeaturesAnswerAsTheirImages) {
  Recognizer own = birds();
  const Backbone backbone(file("encoder.npz"));
  const std::vector<Image> asked = {pixels_of(205, 12, 9), pixels_of(12, 205, 9)};
  const Matrix features = backbone.extract(asked);
  EXPECT_EQ(features.rows, 2);
  EXPECT_EQ(features.columns, own.dim());
  EXPECT_EQ(own.features_of(asked).values, features.values);
  EXPECT_EQ(own.classify_features(features)[0].familiarity, own.classify(asked)[0].familiarity);
  own.enrol_features("cardinal", {features.row(0), 1, features.columns});
  EXPECT_EQ(own.classes()[0].images, 4);
}

TEST_F(ApiRecognizer, ListsRenamesRemovesAndTakesBack) {
  Recognizer own = birds();
  ASSERT_THAT(own.classes(), SizeIs(2));
  EXPECT_EQ(own.classes()[0].name, "cardinal");
  EXPECT_EQ(own.classes()[0].images, 3);
  EXPECT_THAT(own.examples("bluebird"), SizeIs(3));
  own.rename("cardinal", "northern cardinal");
  EXPECT_EQ(own.classes()[0].name, "northern cardinal");
  EXPECT_THAT(own.undo(), HasSubstr("northern cardinal"));
  EXPECT_EQ(own.classes()[0].name, "cardinal");
  EXPECT_THAT(own.redo(), HasSubstr("northern cardinal"));
  EXPECT_EQ(own.classes()[0].name, "northern cardinal");
  own.merge("northern cardinal", "bluebird");
  EXPECT_EQ(own.classes()[0].images, 6);
  EXPECT_THAT(own.undo(), HasSubstr("merge"));
  EXPECT_EQ(own.move_examples({own.examples("bluebird")[0].id}, "northern cardinal"), 1);
  EXPECT_THAT(own.examples("northern cardinal"), SizeIs(4));
  EXPECT_THAT(own.undo(), HasSubstr("move 1 image"));
  own.confirm_examples({own.examples("bluebird")[0].id});
  EXPECT_TRUE(own.examples("bluebird")[0].confirmed);
  own.remove_examples({own.examples("bluebird")[0].id});
  EXPECT_THAT(own.examples("bluebird"), SizeIs(2));
  own.remove("bluebird");
  EXPECT_THAT(own.classes(), SizeIs(1));
}

TEST_F(ApiRecognizer, AnImageThatItHoldsDoesNotCountTwice) {
  Recognizer own = birds();
  const Enrolment again = own.enrol("cardinal", reds());
  ASSERT_THAT(again.classes, SizeIs(1));
  EXPECT_FALSE(again.classes[0].is_new);
  EXPECT_EQ(again.classes[0].added, 0);
  EXPECT_EQ(again.classes[0].now.images, 3);
}

TEST_F(ApiRecognizer, UnlabelledImagesCount) {
  std::filesystem::create_directories(folder_ / "pool");
  for (int i = 0; i < 6; ++i) photo(file("pool/" + std::to_string(i) + ".png"), 90 + 20 * i, 150 - 10 * i, 20 + i);
  RecognizerParts parts;
  parts.backbone = file("encoder.npz");
  parts.unlabelled = {file("pool")};
  Recognizer own = Recognizer::create(file("pool.pcm"), parts);
  own.enrol("cardinal", reds());
  own.enrol("bluebird", {photo(file("4.png"), 10, 220, 4), Image::encoded(png(20, 210, 5)), pixels_of(10, 200, 6)});
  const Image asked = pixels_of(120, 110, 7);
  EXPECT_NE(own.classify(asked).ranking[0].probability, birds().classify(asked).ranking[0].probability);
  parts.unlabelled = {file("nowhere")};
  EXPECT_THROW(Recognizer::create(file("none.pcm"), parts), Error);
}

TEST_F(ApiRecognizer, UnlabelledImagesAreAddedAndRemovedLater) {
  RecognizerParts parts;
  parts.backbone = file("encoder.npz");
  Recognizer own = Recognizer::create(file("later.pcm"), parts);
  own.enrol("cardinal", reds());
  own.enrol("bluebird", {pixels_of(10, 220, 4), pixels_of(20, 210, 5), pixels_of(10, 200, 6)});
  const Image asked = pixels_of(120, 110, 7);
  const double before = own.classify(asked).ranking[0].probability;
  EXPECT_EQ(own.unlabelled(), 0);
  const std::vector<Image> pool = {pixels_of(90, 150, 8), pixels_of(150, 100, 9), pixels_of(190, 90, 10)};
  EXPECT_EQ(own.add_unlabelled(pool), 3);
  EXPECT_EQ(own.add_unlabelled({pool[0], pixels_of(110, 140, 11)}), 1) << "one is there already";
  EXPECT_EQ(own.add_unlabelled_features(own.features_of({pixels_of(60, 160, 12)})), 1);
  EXPECT_EQ(own.unlabelled(), 5);
  EXPECT_NE(own.classify(asked).ranking[0].probability, before);
  EXPECT_EQ(own.remove_unlabelled(), 5);
  EXPECT_EQ(own.classify(asked).ranking[0].probability, before);
  EXPECT_THAT(own.undo(), HasSubstr("unlabelled"));
  EXPECT_EQ(own.unlabelled(), 5);
  EXPECT_THROW(own.add_unlabelled({Image(file("nowhere.png"))}), Error);
}

TEST_F(ApiRecognizer, AFolderOfFoldersIsEnrolledAndWhatCannotBeReadIsNamed) {
  RecognizerParts parts;
  parts.backbone = file("encoder.npz");
  Recognizer own = Recognizer::create(file("folder.pcm"), parts);
  for (const char* name : {"a", "b"}) std::filesystem::create_directories(folder_ / "photos" / name);
  photo(file("photos/a/1.png"), 220, 10, 1);
  photo(file("photos/b/1.png"), 10, 220, 2);
  std::ofstream(file("photos/b/broken.png")) << "no image";
  int steps = 0;
  EnrolSources sources;
  sources.folder = file("photos");
  const Enrolment done = own.enrol(sources, [&](const ProgressStep&) { ++steps; });
  EXPECT_THAT(done.classes, SizeIs(2));
  ASSERT_THAT(done.unreadable, SizeIs(1));
  EXPECT_THAT(done.unreadable[0].reason, HasSubstr("broken.png"));
  EXPECT_GT(steps, 0);
  struct Enough {};
  EXPECT_THROW(own.enrol(sources, [](const ProgressStep&) { throw Enough(); }), Enough);
}

TEST_F(ApiRecognizer, ACalibrationSaysWhatIsOfNoClass) {
  Recognizer own = birds();
  EXPECT_FALSE(own.calibration());
  std::vector<Image> others;
  for (int i = 0; i < 25; ++i) others.push_back(pixels_of(static_cast<uint8_t>(100 + i), 110, i));
  const Calibration made = own.calibrate(others);
  EXPECT_EQ(made.unknown, 25);
  ASSERT_TRUE(own.calibration());
  EXPECT_EQ(own.calibration()->threshold, made.threshold);
  EXPECT_TRUE(own.classify(pixels_of(205, 12, 9)).none_of_these.has_value());
}

TEST_F(ApiRecognizer, WhatAnotherOneEnrolsCountsFromTheNextCallOn) {
  Recognizer own = birds();
  Recognizer other = Recognizer::open(file("birds.pcm"));
  other.enrol("wren", {pixels_of(100, 100, 1)});
  EXPECT_THAT(own.classify(pixels_of(1, 1, 1)).ranking, SizeIs(3));
}

TEST_F(ApiRecognizer, SeveralThreadsMayUseOneAtOnce) {
  Recognizer own = birds();
  const Answer expected = own.classify(pixels_of(205, 12, 9));
  std::vector<std::thread> threads;
  std::vector<Answer> found(4);
  for (size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 3; ++round) found[i] = own.classify(pixels_of(205, 12, 9));
      static_cast<void>(own.classes());
    });
  }
  for (std::thread& one : threads) one.join();
  for (const Answer& one : found) EXPECT_EQ(one.familiarity, expected.familiarity);
}

TEST_F(ApiRecognizer, WhatTheLibraryWarnsOfIsInTheResult) {
  RecognizerParts parts;
  parts.backbone = file("encoder.npz");
  Recognizer own = Recognizer::create(file("one.pcm"), parts);
  own.enrol("cardinal", reds());
  const Answer answer = own.classify(pixels_of(205, 12, 9));
  ASSERT_THAT(answer.warnings, SizeIs(1)) << "with one class there is nothing to tell apart";
  EXPECT_THAT(own.classify(pixels_of(205, 12, 9)).warnings, SizeIs(0)) << "said once";
}

std::string get(int port, const std::string& path) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static_cast<void>(::write(connection, request.data(), request.size()));
    char part[4096];
    for (ssize_t count = 0; (count = ::read(connection, part, sizeof part)) > 0;)
      answer.append(part, static_cast<size_t>(count));
  }
  ::close(connection);
  return answer;
}

TEST_F(ApiRecognizer, AServerLivesInsideAProgram) {
  static_cast<void>(birds());
  ServerOptions options;
  options.port = 0;
  Server server(file("birds.pcm"), options);
  EXPECT_THAT(get(server.port(), "/v1/classes"), HasSubstr("cardinal"));
  const int port = server.port();
  server.stop();
  EXPECT_EQ(get(port, "/v1/classes"), "");
}

TEST_F(ApiRecognizer, AnEncoderIsTrainedAndUsed) {
  for (const char* split : {"train", "val"}) {
    for (const char* name : {"a", "b"}) {
      const auto folder = folder_ / "images" / split / (std::string(split) + name);
      std::filesystem::create_directories(folder);
      for (int i = 0; i < 8; ++i)
        photo((folder / (std::to_string(i) + ".png")).string(), *name == 'a' ? 200 : 20, *name == 'a' ? 20 : 200, i);
    }
  }
  PretrainOptions options;
  options.architecture = "conv4";
  options.image_size = kSide;
  options.epochs = 1;
  options.batch = 8;
  options.validation_episodes = 2;
  int steps = 0;
  const PretrainResult made =
      pretrain(file("images"), file("trained.npz"), options, [&](const ProgressStep&) { ++steps; });
  EXPECT_EQ(made.best_epoch, 1);
  EXPECT_GT(steps, 1);
  EXPECT_EQ(Backbone(file("trained.npz")).image_size(), kSide);
}

}  // namespace
}  // namespace protocom::testing
