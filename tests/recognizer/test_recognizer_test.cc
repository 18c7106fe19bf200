#include "recognizer/test_recognizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "recognizer/enrol_sources.h"
#include "recognizer/recognizer_support.h"
#include "support/logged.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class TestedRecognizer : public SmallRecognizer {
 protected:
  void SetUp() override {
    SmallRecognizer::SetUp();
    pets().enrol({request("dark fur", {photo("1.png", 10), photo("2.png", 30)}),
                  request("bright", {photo("3.png", 240), photo("4.png", 220)})});
  }
  Recognizer pets(const std::string& file = "pets.pcm") const { return Recognizer::open(folder_ / file); }

  /// Writes a photo into the folder of labelled ones.
  void label(const std::string& name, uint8_t grey) const {
    fs::create_directories((folder_ / "labelled" / name).parent_path());
    photo("labelled/" + name, grey);
  }
  TestResult test() const {
    Recognizer own = pets();
    return test_recognizer(own, labelled_images(sources_at(folder_ / "labelled"), own.file()));
  }
};

TEST_F(TestedRecognizer, CountsWhatIsUnknownAndLeavesOutWhatIsEnrolled) {
  label("dark\u00a0fur/1.png", 10);  // enrolled; another kind of space, but the same class
  label("dark\u00a0fur/5.png", 22);
  label("bright/6.png", 230);
  label("brigt/7.png", 128);
  write_file(folder_ / "labelled/bright/cut.png", "\x89PNG");
  const Logged logged;
  const TestResult found = test();
  EXPECT_EQ(found.already_enrolled, 1);
  EXPECT_EQ(found.images, 2);
  EXPECT_EQ(found.unknown, 1);
  EXPECT_EQ(found.accepted, 1) << "without a calibration nothing is refused";
  EXPECT_FALSE(found.calibrated);
  ASSERT_THAT(found.unreadable, SizeIs(1));
  EXPECT_THAT(found.unreadable[0].reason, HasSubstr("cut.png"));
  EXPECT_THAT(logged.text(), AllOf(HasSubstr("count as unknown images: 'brigt'"), HasSubstr("did you mean 'bright'")));
}

TEST_F(TestedRecognizer, AnswersAreThoseOfClassify) {
  label("dark fur/5.png", 22);
  label("bright/6.png", 131);
  for (const TestedImage& image : test().tested) {
    const Answer answer = pets().classify(image.image);
    EXPECT_EQ(image.answer, answer.name());
    EXPECT_NEAR(image.certainty, answer.ranking[0].probability, 1e-6);
    const size_t place = answer.ranking[0].name == image.class_name ? 0 : 1;
    EXPECT_EQ(image.rank, static_cast<int64_t>(place) + 1);
    EXPECT_NEAR(image.loss, -std::log(answer.ranking[place].probability), 1e-5);
  }
}

TEST_F(TestedRecognizer, ProbabilitiesAreGivenThatItIsOfAClass) {
  pets().calibrate({}, {});
  label("dark fur/5.png", 22);
  label("other/6.png", 131);
  for (const TestedImage& image : test().tested) {
    const Answer answer = pets().classify(image.image);
    ASSERT_TRUE(image.none);
    EXPECT_NEAR(*image.none, *answer.none, 1e-6);
    EXPECT_NEAR(image.certainty * (1 - *image.none), answer.ranking[0].probability, 1e-6);
    EXPECT_EQ(image.is_refused(), *answer.none_of_these);
  }
}

TEST_F(TestedRecognizer, FeaturesAndAListAreTestedAsAFolder) {
  label("dark fur/5.png", 22);
  label("bright/6.png", 131);
  write_file(folder_ / "labelled.csv", "class,image\nbright,labelled/bright/6.png\ndark fur,labelled/dark fur/5.png\n");
  Recognizer own = pets();
  const TestResult listed = test_recognizer(own, labelled_images(sources_at(folder_ / "labelled.csv"), own.file()));
  const TestResult folder = test();
  EXPECT_EQ(listed.accuracy, folder.accuracy);
  EXPECT_NEAR(listed.log_loss, folder.log_loss, 1e-6);
  EnrolRequest given = request("bright", {});
  given.examples =
      examples_of_features(own.features_of({read_square_image(folder_ / "labelled/bright/6.png", {kSide})}));
  const TestResult features = test_recognizer(own, std::vector<EnrolRequest>{given});
  EXPECT_EQ(features.images, 1);
  given.examples.features = given.examples.features.to(NumberType::kFloat16);
  EXPECT_EQ(test_recognizer(own, std::vector<EnrolRequest>{given}).images, 1);
  given.examples = examples_of_features(own.features_of({read_square_image(folder_ / "3.png", {kSide})}));
  EXPECT_THAT(message_of([&] { test_recognizer(own, std::vector<EnrolRequest>{given}); }),
              HasSubstr("all 1 images are enrolled"))
      << "of an image that is enrolled";
  given.examples = examples_of_features(Array::zeros({1, 3}));
  EXPECT_THAT(message_of([&] { test_recognizer(own, std::vector<EnrolRequest>{given}); }), HasSubstr("[1, 3]"));
}

TEST_F(TestedRecognizer, WhatCannotBeTestedIsRefused) {
  const auto refused = [&] { return message_of([&] { test(); }); };
  EXPECT_THAT(refused(), HasSubstr("labelled: no such folder or file of labelled images"));
  fs::create_directories(folder_ / "labelled");
  EXPECT_THAT(refused(), HasSubstr("expected a subfolder of images for each class"));
  fs::create_directories(folder_ / "labelled/bright");
  EXPECT_THAT(refused(), HasSubstr("no labelled image can be read"));
  label("bright/1.png", 240);
  EXPECT_THAT(refused(), HasSubstr("all 1 images are enrolled"));
  label("cat/1.png", 100);
  EXPECT_THAT(refused(), HasSubstr("no image of a class of"));
  fs::remove_all(folder_ / "labelled/bright");
  EXPECT_THAT(refused(), HasSubstr("none of the 1 classes to test is in"));
  create_recognizer(folder_ / "empty.pcm", parts(), {});
  Recognizer empty = pets("empty.pcm");
  EXPECT_THAT(message_of([&] { test_recognizer(empty, {request("cat", {photo("5.png", 1)})}, Progress::none()); }),
              HasSubstr("no class is enrolled"));
}

TEST_F(TestedRecognizer, TwoAreComparedOnWhatBothCanBeAsked) {
  create_recognizer(folder_ / "more.pcm", parts(), {});
  Recognizer more = pets("more.pcm"), own = pets();
  more.enrol({request("dark fur", {photo("7.png", 12)}), request("bright", {photo("8.png", 236)}),
              request("grey", {photo("9.png", 128)})});
  label("dark fur/1.png", 10);  // enrolled in the first
  label("dark fur/2.png", 12);  // enrolled in the second
  label("dark fur/5.png", 22);
  label("bright/6.png", 230);
  label("grey/1.png", 120);
  label("red/1.png", 140);
  const auto photos = labelled_images(sources_at(folder_ / "labelled"), own.file());
  const ComparedTests found = compare_recognizers(own, more, photos);
  EXPECT_EQ(found.first.already_enrolled, 2);
  EXPECT_EQ(found.first.unshared, 1) << "of grey, which the second alone has";
  EXPECT_EQ(found.first.unknown, 1);
  EXPECT_EQ(found.comparison.images, 2);
  ASSERT_THAT(found.second.tested, SizeIs(3));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(found.first.tested[i].image, found.second.tested[i].image);
  fs::remove_all(folder_ / "labelled/dark fur");
  fs::remove_all(folder_ / "labelled/bright");
  label("bright/3.png", 240);
  EXPECT_THAT(message_of([&] {
                compare_recognizers(own, more, labelled_images(sources_at(folder_ / "labelled"), own.file()));
              }),
              HasSubstr("no image to test is of a class"));
}

}  // namespace
}  // namespace protocom::testing
