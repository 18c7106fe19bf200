#include "recognizer/suggest_photos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "recognizer/recognizer_support.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Returns probabilities of two classes.
DoubleMatrix chances(const std::vector<double>& first) {
  DoubleMatrix made(static_cast<int64_t>(first.size()), 2);
  for (size_t i = 0; i < first.size(); ++i) made.row(static_cast<int64_t>(i)) << first[i], 1 - first[i];
  return made;
}

std::vector<int64_t> rows_of(const std::vector<ChosenRow>& chosen) {
  std::vector<int64_t> rows;
  for (const ChosenRow& one : chosen) rows.push_back(one.row);
  return rows;
}

TEST(PhotosToLabel, TakeTheDoubtThatIsLeftAndNotTheSamePictureTwice) {
  // Four directions of mean 0; uncertain images of two of them, one of these twice.
  FloatMatrix features(5, 2);
  features << 1, 0, 1, 0, -2, 0, 0, 1, 0, -1;
  const DoubleMatrix probabilities = chances({0.5, 0.5, 0.95, 0.6, 0.99});  // uncertainties 1, 1, .1, .8, .02
  const std::vector<ChosenRow> chosen = choose_to_label(probabilities, features, 3);
  EXPECT_THAT(rows_of(chosen), ElementsAre(0, 3, 2))
      << "the second image has nothing left that the first has not taken";
  EXPECT_NEAR(chosen[0].doubt, 1, 1e-12);
  EXPECT_NEAR(chosen[0].share, 2 / 2.92, 1e-6);
  EXPECT_NEAR(chosen[1].share, 0.8 / 2.92, 1e-6);
  EXPECT_NEAR(chosen[2].share, 0.1 / 2.92, 1e-6);
  EXPECT_THAT(choose_to_label(probabilities, features, 9), SizeIs(5)) << "as many as there are";
}

TEST(PhotosToLabel, StandForTheDoubtOfThoseAroundThem) {
  // The most uncertain image is alone; three nearly as uncertain ones lie together.
  FloatMatrix features(4, 2);
  features << -3, 0, 1, 0.01F, 1, -0.01F, 1, 0;
  EXPECT_THAT(rows_of(choose_to_label(chances({0.5, 0.55, 0.55, 0.55}), features, 2)), ElementsAre(3, 0));
}

TEST(PhotosToLabel, MayBeOfOneClassAloneOrAllAlike) {
  EXPECT_THAT(choose_to_label(DoubleMatrix::Ones(3, 1), FloatMatrix::Ones(3, 2), 2), SizeIs(2));
  EXPECT_THAT(choose_to_label(DoubleMatrix(0, 2), FloatMatrix(0, 2), 2), SizeIs(0));
}

class SuggestedPhotos : public SmallRecognizer {
 protected:
  void SetUp() override {
    SmallRecognizer::SetUp();
    Recognizer pets = Recognizer::open(path_);
    pets.enrol({request("dark", {photo("1.png", 10), photo("2.png", 30)}),
                request("bright", {photo("3.png", 240), photo("4.png", 220)})});
  }
};

TEST_F(SuggestedPhotos, LeaveOutWhatIsEnrolledAndWhatCannotBeRead) {
  Recognizer pets = Recognizer::open(path_);
  write_file(folder_ / "cut.png", "\x89PNG");
  const Suggestions made =
      suggest(pets, {folder_ / "1.png", folder_ / "cut.png", photo("5.png", 25), photo("6.png", 131)}, 9);
  EXPECT_EQ(made.already_enrolled, 1);
  EXPECT_EQ(made.looked_at, 2);
  EXPECT_THAT(made.unreadable, SizeIs(1));
  ASSERT_THAT(made.images, SizeIs(2));
  for (const Suggestion& one : made.images) {
    const Answer answer = pets.classify(one.image);
    EXPECT_EQ(one.answer, answer.ranking[0].name);
    EXPECT_EQ(one.runner_up, answer.ranking[1].name);
    EXPECT_NEAR(one.probability, answer.ranking[0].probability, 1e-6);
    EXPECT_NEAR(one.doubt, 1 - (answer.ranking[0].probability - answer.ranking[1].probability), 1e-6);
  }
}

TEST_F(SuggestedPhotos, NeedACountAndSomethingNew) {
  Recognizer pets = Recognizer::open(path_);
  EXPECT_THAT(message_of([&] { suggest(pets, {folder_ / "1.png"}, 0); }), HasSubstr("at least 1, found 0"));
  EXPECT_THAT(message_of([&] { suggest(pets, {folder_ / "1.png"}, 3); }), HasSubstr("all 1 images are enrolled"));
  EXPECT_THAT(message_of([&] { suggest(pets, {folder_ / "gone.png"}, 3); }), HasSubstr("no image can be read"));
}

}  // namespace
}  // namespace protocom::testing
