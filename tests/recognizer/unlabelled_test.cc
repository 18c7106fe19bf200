// Unlabelled photos that a recognizer stores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "recognizer/create_recognizer.h"
#include "recognizer/recognizer_folder.h"
#include "recognizer/recognizer_support.h"
#include "store/recognizer_file_support.h"
#include "support/message_of.h"
#include "support/sqlite_file.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NewExamples unsorted(const std::vector<std::vector<float>>& features, const std::vector<std::string>& hashes) {
  return enrolment("", features, hashes).examples;
}

std::vector<std::string> hashes_of(const RecognizerFile& file) {
  std::vector<std::string> hashes;
  for (const ExampleInfo& entry : file.list_unlabelled()) hashes.push_back(entry.hash);
  return hashes;
}

class UnlabelledFile : public ::testing::Test {
 protected:
  TempDir folder_;
  fs::path path_ = make_file(folder_);
  RecognizerFile file_{path_};
};

TEST_F(UnlabelledFile, KeepsEachPhotoOnceWithItsPictureAndSource) {
  EXPECT_EQ(file_.add_unlabelled(unsorted({{1, 2}, {3, 4}}, {"a", "b"})), 2);
  EXPECT_EQ(file_.last_made()->what, "add 2 unlabelled images");
  EXPECT_EQ(file_.add_unlabelled(unsorted({{3, 4}, {5, 6}}, {"b", "c"})), 1);
  EXPECT_EQ(file_.add_unlabelled(unsorted({{5, 6}}, {"c"})), 0);
  EXPECT_FALSE(file_.last_made()) << "nothing was changed";
  const RecognizerFile other(path_);
  EXPECT_EQ(other.count_unlabelled(), 3);
  EXPECT_THAT(hashes_of(other), ElementsAre("a", "b", "c"));
  const ExampleInfo first = other.list_unlabelled().front();
  EXPECT_EQ(first.source, "photos/a.jpg");
  EXPECT_EQ(other.unlabelled_thumbnail(first.id), "JPEG of a");
  EXPECT_TRUE(at::equal(tensor_of(other.snapshot().enrolled.unlabelled),
                        at::tensor({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}).view({3, 2})));
  EXPECT_THAT(other.list_classes(), IsEmpty());
  EXPECT_THAT(other.check(), IsEmpty());
}

TEST_F(UnlabelledFile, GivesPhotosUpAndTakesThatBack) {
  file_.add_unlabelled(unsorted({{1, 2}, {3, 4}, {5, 6}}, {"a", "b", "c"}));
  file_.remove_unlabelled({file_.list_unlabelled()[1].id});
  EXPECT_THAT(hashes_of(file_), ElementsAre("a", "c"));
  EXPECT_EQ(file_.remove_all_unlabelled(), 2);
  EXPECT_EQ(file_.remove_all_unlabelled(), 0);
  EXPECT_FALSE(file_.snapshot().enrolled.unlabelled.defined());
  EXPECT_EQ(file_.undo().what, "remove 2 unlabelled images");
  EXPECT_THAT(hashes_of(file_), ElementsAre("a", "c"));
  EXPECT_EQ(file_.undo().what, "remove 1 unlabelled image");
  EXPECT_EQ(file_.undo().what, "add 3 unlabelled images");
  EXPECT_EQ(file_.count_unlabelled(), 0);
  file_.redo();
  EXPECT_THAT(hashes_of(file_), ElementsAre("a", "b", "c"));
  file_.redo();
  file_.compact();
  EXPECT_THAT(hashes_of(file_), ElementsAre("a", "c"));
  EXPECT_THAT(RecognizerFile(path_).check(), IsEmpty());
}

TEST_F(UnlabelledFile, ASnapshotFollowsThem) {
  file_.enrol({enrolment("dog", {{1, 2}}, {"d"})});
  RecognizerSnapshot snapshot = file_.snapshot();
  EXPECT_FALSE(snapshot.enrolled.unlabelled.defined());
  file_.add_unlabelled(unsorted({{1, 2}}, {"a"}));
  EXPECT_THAT(file_.refresh(snapshot), ElementsAre(0)) << "the class is still the same";
  EXPECT_EQ(snapshot.enrolled.unlabelled.size(0), 1);
  file_.undo();
  file_.add_unlabelled(unsorted({{7, 8}}, {"b"}));
  file_.refresh(snapshot);
  EXPECT_TRUE(at::equal(tensor_of(snapshot.enrolled.unlabelled), at::tensor({7.0F, 8.0F}).view({1, 2})));
}

TEST_F(UnlabelledFile, RefusesWhatDoesNotFitAndMoreThanItHolds) {
  EXPECT_THAT(message_of([&] {
                file_.add_unlabelled(unsorted({{1, 2, 3}}, {"a"}));
              }),
              HasSubstr("unlabelled images: expected features of the shape [1, 2]"));
  EXPECT_THAT(message_of([&] { file_.add_unlabelled(unsorted({{1, NAN}}, {"a"})); }), HasSubstr("unlabelled images"));
  EXPECT_THAT(message_of([&] { file_.remove_unlabelled({7}); }), HasSubstr("no unlabelled image 7"));
  EXPECT_THAT(message_of([&] { static_cast<void>(file_.unlabelled_thumbnail(7)); }),
              HasSubstr("no unlabelled image 7"));
  NewExamples many;
  many.features = array_of(at::rand({kMostUnlabelled + 1, 2}));
  for (int64_t i = 0; i <= kMostUnlabelled; ++i) many.hashes.push_back(std::to_string(i));
  EXPECT_THAT(message_of([&] { file_.add_unlabelled(many); }), HasSubstr("exceed the limit of 5000"));
  EXPECT_EQ(file_.count_unlabelled(), 0);
  EXPECT_THAT(file_.changes(), IsEmpty());
}

TEST_F(UnlabelledFile, ComesBackFromAFolder) {
  file_.enrol({enrolment("dog", {{1, 2}}, {"d"})});
  file_.add_unlabelled(unsorted({{1, 2}, {3, 4}}, {"a", "b"}));
  export_recognizer(file_, folder_ / "out");
  import_recognizer(folder_ / "out", folder_ / "b.pcm", {});
  const RecognizerFile back(folder_ / "b.pcm");
  EXPECT_EQ(all_of(back), all_of(file_));
  EXPECT_THAT(hashes_of(back), ElementsAre("a", "b"));
  EXPECT_EQ(back.unlabelled_thumbnail(back.list_unlabelled()[1].id), "JPEG of b");
  EXPECT_EQ(back.list_unlabelled()[1].time, file_.list_unlabelled()[1].time);
}

TEST_F(UnlabelledFile, DamageIsSaid) {
  file_.add_unlabelled(unsorted({{1, 2}}, {"a"}));
  SqliteFile(path_).run("UPDATE unlabelled SET feature = x'0102'");
  EXPECT_THAT(message_of([&] { static_cast<void>(RecognizerFile(path_).snapshot()); }),
              AllOf(HasSubstr("unlabelled image 1 is damaged"), HasSubstr("2 bytes, expected 8")));
}

/// A recognizer with nothing but its own photos.
class UnlabelledRecognizer : public SmallRecognizer {
 protected:
  void SetUp() override {
    SmallRecognizer::SetUp();
    RecognizerParts made = parts();
    made.model.clear();
    made.knowledge.clear();
    made.moments = "off";  // these greys are similar
    path_ = folder_ / "own.pcm";
    create_recognizer(path_, made, {});
    Recognizer::open(path_).enrol({request("cat", {photo("1.png", 10), photo("2.png", 30), photo("3.png", 70)}),
                                   request("dog", {photo("4.png", 200), photo("5.png", 230), photo("6.png", 180)})});
    for (int i = 0; i < 8; ++i) pool_.emplace_back(photo(fmt::format("u{}.png", i), 20 + 25 * i));
  }

  double familiarity(Recognizer& recognizer) { return recognizer.classify(photo("asked.png", 90)).familiarity; }

  std::vector<fs::path> pool_;
};

TEST_F(UnlabelledRecognizer, LearnsFromThemAndForgetsThem) {
  Recognizer pets = Recognizer::open(path_), beside = Recognizer::open(path_);
  const double alone = familiarity(pets);
  const LearnedUnlabelled learned = pets.add_unlabelled(pool_);
  EXPECT_EQ(learned.added, 8);
  EXPECT_EQ(learned.images, 8);
  EXPECT_EQ(pets.add_unlabelled({pool_[0], pool_[1]}).held, 2);
  EXPECT_NE(familiarity(pets), alone);
  EXPECT_EQ(familiarity(beside), familiarity(pets)) << "another process sees them";
  pets.file().remove_all_unlabelled();
  EXPECT_DOUBLE_EQ(familiarity(pets), alone);
  pets.file().undo();
  EXPECT_NE(familiarity(pets), alone);
}

TEST_F(UnlabelledRecognizer, IsWhatItIsMadeWithTheSamePhotos) {
  RecognizerParts made = parts();
  made.model.clear();
  made.knowledge.clear();
  made.moments = "off";
  for (const fs::path& image : pool_) made.unlabelled.push_back(image.string());
  create_recognizer(folder_ / "with.pcm", made, {});
  EXPECT_EQ(RecognizerFile(folder_ / "with.pcm").count_unlabelled(), 8);
  Recognizer with = Recognizer::open(folder_ / "with.pcm"), later = Recognizer::open(path_);
  const auto cats = {request("cat", {photo("1.png", 10), photo("2.png", 30), photo("3.png", 70)}),
                     request("dog", {photo("4.png", 200), photo("5.png", 230), photo("6.png", 180)})};
  with.enrol(cats);
  later.add_unlabelled(pool_);
  EXPECT_DOUBLE_EQ(familiarity(with), familiarity(later));
}

TEST_F(UnlabelledRecognizer, SaysWhatTheyAreWorth) {
  Recognizer pets = Recognizer::open(path_);
  EXPECT_FALSE(pets.expected_accuracy().without_unlabelled);
  pets.add_unlabelled(pool_);
  const ExpectedAccuracy expected = pets.expected_accuracy();
  EXPECT_EQ(expected.unlabelled, 8);
  ASSERT_TRUE(expected.without_unlabelled);
  EXPECT_THAT(sentence_of(expected, "no base classes"), HasSubstr("% without the 8 unlabelled ones"));
}

// A sign test of 5 photos against none has p = 2 * 2^-5 = .0625, of 6 .031.
TEST(ExpectedWithUnlabelled, SaysWhyItIsLower) {
  constexpr double kLeft = 0.9;
  const auto sentence = [](int64_t right_with, int64_t right_without) {
    ExpectedAccuracy made;
    made.classes = 10, made.images = made.moments = made.asked = 40, made.unlabelled = 15;
    made.accuracy = static_cast<double>(right_with) / 40;
    made.expected = 1 - kLeft * (1 - made.accuracy);
    made.without_unlabelled = 1 - kLeft * (1 - static_cast<double>(right_without) / 40);
    return sentence_of(made, "no base classes");
  };
  EXPECT_THAT(sentence(32, 34), HasSubstr("% without the 15 unlabelled ones (with them 2 fewer of the 40 left out are "
                                          "right, which may be chance)"));
  EXPECT_THAT(sentence(32, 37), HasSubstr("5 fewer of the 40 left out are right, which may be chance"));
  EXPECT_THAT(sentence(32, 38), HasSubstr("6 fewer of the 40 left out are right, so leave them out"));
  EXPECT_THAT(sentence(34, 34), HasSubstr("% without the 15 unlabelled ones."));
  EXPECT_THAT(sentence(40, 38), HasSubstr("% without the 15 unlabelled ones."));
}

TEST_F(UnlabelledRecognizer, NamesWhatCannotBeReadAndTakesTheRest) {
  write_file(folder_ / "broken.png", "no image");
  Recognizer pets = Recognizer::open(path_);
  const LearnedUnlabelled learned = pets.add_unlabelled({pool_[0], folder_ / "broken.png"});
  EXPECT_EQ(learned.added, 1);
  ASSERT_EQ(learned.unreadable.size(), 1U);
  EXPECT_THAT(learned.unreadable[0].reason, HasSubstr("broken.png"));
  EXPECT_THAT(message_of([&] { pets.add_unlabelled({folder_ / "broken.png"}); }), HasSubstr("none of the unlabelled"));
}

TEST_F(UnlabelledRecognizer, IsRefusedWhereTheSpaceStays) {
  Recognizer fixed = Recognizer::open(folder_ / "pets.pcm");
  EXPECT_FALSE(fixed.learns_from_unlabelled());
  EXPECT_THAT(message_of([&] { fixed.add_unlabelled(pool_); }), HasSubstr("has the fixed space"));
}

TEST_F(UnlabelledRecognizer, StatesARangeAroundWhatIsExpected) {
  const ExpectedAccuracy expected = Recognizer::open(path_).expected_accuracy();
  ASSERT_EQ(expected.asked, 6);
  const double error = 1 - expected.accuracy;
  EXPECT_NEAR(1 - expected.expected, error * std::sqrt(2.3 / 3.3), 1e-12) << "three photos per class in place of two";
  EXPECT_LE(expected.low, expected.expected);
  EXPECT_GE(expected.high, expected.expected);
  EXPECT_GT(expected.low, 0);
  EXPECT_LE(expected.high, 1);
  EXPECT_NEAR(expected.gain.value(), 100 * (1 - expected.expected) * (1 - std::sqrt(3.3 / 6.3)), 1e-9);
  EXPECT_THAT(sentence_of(expected, "no base classes"),
              HasSubstr(fmt::format("between {:.0f} and {:.0f}", 100 * expected.low, 100 * expected.high)));
}

}  // namespace
}  // namespace protocom::testing
