#include "recognizer/moments.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recognizer/calibration.h"
#include "recognizer/class_scorer.h"
#include "recognizer/expected_accuracy.h"
#include "recognizer/store_support.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kFeatureLength = 64;

/// Classes with photos of that many moments, each in that many frames.
struct BurstShape {
  int64_t classes = 5, moments = 4, frames = 1;
};

/// Returns classes whose moments differ by 1 in each number, frames of a moment by .15. A moment's first frame is the
/// same however many there are.
EnrolledClasses bursts(const BurstShape& shape, uint64_t seed = 3) {
  auto generator = at::detail::createCPUGenerator(seed);
  EnrolledClasses enrolled{kFeatureLength, {}, {}};
  for (int64_t k = 0; k < shape.classes; ++k) {
    const at::Tensor moments =
        at::randn({1, kFeatureLength}, generator) + at::randn({shape.moments, kFeatureLength}, generator);
    const at::Tensor frames = at::randn({shape.moments, 4, kFeatureLength}, generator) * 0.15;
    StoredClass one;
    one.name = "class " + std::to_string(k);
    one.description.association = Array::zeros({0});
    one.description.embedding = Array::zeros({0});
    one.count = shape.moments * shape.frames;
    const at::Tensor all = (moments.unsqueeze(1) + frames).slice(1, 0, shape.frames);
    one.features = array_of(all.reshape({one.count, kFeatureLength}).contiguous());
    enrolled.classes.push_back(one);
  }
  return enrolled;
}

/// Appends `copies` copies of each photo.
EnrolledClasses with_copies(EnrolledClasses enrolled, int64_t copies) {
  for (StoredClass& one : enrolled.classes) {
    const Array once = one.features;
    for (int64_t i = 0; i < copies; ++i) one.features = Array::joined({one.features, once});
    one.count = one.features.size(0);
  }
  return enrolled;
}

StoreModel own_photos() { return {{}, FittedMethod{make_method("plda"), kFeatureLength, {}}}; }

ExpectedAccuracy promise_of(const EnrolledClasses& enrolled, bool moments = true) {
  const StoreModel model = own_photos();
  ClassScorerOptions options;
  options.moments = moments;
  return expected_accuracy(ClassScorer(enrolled, model, options));
}

Calibration calibration_of(const EnrolledClasses& enrolled) {
  const StoreModel model = own_photos();
  return calibrate(ClassScorer(enrolled, model), {}, {}, Progress::none());
}

Array questions() { return bursts({5, 6, 1}).classes[2].features; }

TEST(Moments, FramesOfABurstAreOfOne) {
  EXPECT_THAT(find_moments(bursts({5, 4, 3})), Each(ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3)));
  EXPECT_THAT(find_moments(bursts({3, 2, 4})), Each(ElementsAre(0, 0, 0, 0, 1, 1, 1, 1)));
}

TEST(Moments, OtherPhotosAreNot) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_THAT(find_moments(bursts({5, 3, 1}, seed)), Each(each_its_own(3)));
    EXPECT_THAT(find_moments(bursts({5, 12, 1}, seed)), Each(each_its_own(12)));
  }
}

TEST(Moments, OfClassesOfOneBurstEachMayBeOne) {
  EXPECT_EQ(count_like_one_moment(bursts({5, 1, 4})), 5);
  EXPECT_EQ(count_like_one_moment(bursts({2, 1, 2})), 2);
  EXPECT_EQ(count_like_one_moment(with_copies(bursts({5, 1, 4}), 1)), 5);
  EXPECT_EQ(count_like_one_moment(bursts({5, 4, 3})), 0) << "several bursts";
  EXPECT_EQ(count_like_one_moment(bursts({1, 1, 4})), 0) << "nothing to compare with";
  EXPECT_EQ(count_like_one_moment(bursts({5, 1, 1})), 0) << "nothing to leave out";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(count_like_one_moment(bursts({5, 2, 1}, seed)), 0);
    EXPECT_EQ(count_like_one_moment(bursts({5, 12, 1}, seed)), 0);
  }
  EnrolledClasses some = bursts({5, 4, 1});
  const EnrolledClasses frames = bursts({5, 1, 4});
  for (const size_t k : {0, 1}) some.classes[k] = frames.classes[k];
  EXPECT_EQ(count_like_one_moment(some), 0) << "two of five";
  some.classes[2] = frames.classes[2];
  EXPECT_EQ(count_like_one_moment(some), 3);
  some.classes[2].moments = each_its_own(4);
  EXPECT_EQ(count_like_one_moment(some), 0) << "one of them is stated to have other moments";
}

TEST(Moments, OfNearlyTheSamePhotosAreDoubtedInThePromise) {
  ExpectedAccuracy expected = promise_of(bursts({5, 1, 4}));
  EXPECT_THAT(sentence_of(expected, "no base classes"), Not(HasSubstr("--moments")));
  expected.nearly_same = 4;
  EXPECT_THAT(
      sentence_of(expected, "no base classes"),
      HasSubstr("in 4 of 5 classes they are nearly the same. The real accuracy is then lower: add photos of other "
                "moments, or state the moments by --moments."));
}

TEST(Moments, OneClassOfBurstsAmongOthersIsFound) {
  EnrolledClasses enrolled = bursts({5, 8, 1});
  enrolled.classes[1] = bursts({5, 2, 4}).classes[1];
  const std::vector<PhotoMoments> found = find_moments(enrolled);
  EXPECT_THAT(found[1], ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_EQ(found[0], each_its_own(8));
}

TEST(Moments, CopiesAreOfOneEvenInASingleClass) {
  EXPECT_THAT(find_moments(with_copies(bursts({1, 2, 1}), 1)), ElementsAre(ElementsAre(0, 1, 0, 1)));
  EXPECT_THAT(find_moments(with_copies(bursts({2, 1, 1}), 2)), Each(ElementsAre(0, 0, 0)));
}

TEST(Moments, WhatCannotBeComparedIsItsOwn) {
  EXPECT_THAT(find_moments(EnrolledClasses{kFeatureLength, {}, {}}), ::testing::IsEmpty());
  EXPECT_THAT(find_moments(bursts({1, 2, 3})), ElementsAre(each_its_own(6))) << "no other class";
  EXPECT_THAT(find_moments(bursts({4, 1, 2})), Each(each_its_own(2))) << "nothing is usual in a class of two photos";
  EnrolledClasses same = bursts({3, 4, 1});
  for (StoredClass& one : same.classes) {
    for (int64_t i = 0; i < one.count; ++i)
      mutable_matrix_of<float>(one.features).row(i).setConstant(static_cast<float>(i + 1));
  }
  EXPECT_THAT(find_moments(same), Each(each_its_own(4))) << "their directions differ by rounding alone";
}

TEST(Moments, AreRenumberedWhereSomePhotosAreLeftOut) {
  EXPECT_THAT(moments_of({0, 1, 0, 2}, {1, 3}), ElementsAre(0, 1));
  EXPECT_THAT(moments_of({0, 1, 0, 2}, {1, 2, 3}), ElementsAre(0, 1, 2));
  EXPECT_EQ(count_of({0, 1, 0, 2}), 3);
  EXPECT_THAT(photos_of({0, 1, 0, 2}), ElementsAre(ElementsAre(0, 2), ElementsAre(1), ElementsAre(3)));
}

TEST(Moments, ThatAreStatedStand) {
  EnrolledClasses enrolled = bursts({3, 4, 1});
  enrolled.classes[1].moments = {0, kNotStated, 1, 0};
  EXPECT_THAT(find_moments(enrolled), ElementsAre(each_its_own(4), ElementsAre(0, 1, 2, 0), each_its_own(4)));
  EnrolledClasses frames = bursts({5, 2, 3});
  frames.classes[0].moments = each_its_own(6);
  frames.classes[1].moments = {kNotStated, 0, 1, 2, kNotStated, 2};
  const EnrolledClasses known = with_moments(frames);
  EXPECT_EQ(known.classes[0].moments, each_its_own(6)) << "though they are alike";
  EXPECT_THAT(known.classes[1].moments, ElementsAre(0, 0, 1, 2, 2, 2)) << "an unstated one joins one of them, not both";
  EXPECT_THAT(known.classes[2].moments, ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(moments_of({0, kNotStated, 1, kNotStated, 1}, {1, 2, 3, 4}), ElementsAre(kNotStated, 0, kNotStated, 0));
}

TEST(Moments, HoldABurstTogetherWithWhatElseIsAlike) {
  EnrolledClasses enrolled = bursts({3, 4, 1});
  enrolled.classes[1].taken = {100.0, std::nullopt, 102.0, 104.5};
  EXPECT_THAT(find_moments(enrolled), ElementsAre(each_its_own(4), ElementsAre(0, 1, 0, 2), each_its_own(4)));
  EnrolledClasses frames = bursts({5, 2, 4});
  frames.classes[1].taken = {7.0, 8.0, 70.0, 69.0, 170.0, 170.0, 270.0, 271.0};
  EXPECT_THAT(with_moments(frames).classes[1].moments, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1))
      << "two bursts of one moment are alike";
  frames.classes[1].moments = {0, 1, 0, 1, 2, 3, 2, 3};
  EXPECT_THAT(with_moments(frames).classes[1].moments, ElementsAre(0, 1, 0, 1, 2, 3, 2, 3)) << "a table says otherwise";
  enrolled.classes[1].moments = {0, kNotStated, kNotStated, 1};
  enrolled.classes[1].taken = {100.0, std::nullopt, 102.0, 104.0};
  EXPECT_THAT(find_moments(enrolled)[1], ElementsAre(0, 1, 0, 2)) << "a photo between two visits makes them one";
}

TEST(Moments, CountAsOnePhotoOfTheirMeanFeatures) {
  EnrolledClasses enrolled{2, {}, {}};
  add_class(enrolled, "a", description(1));
  add_images(enrolled, "a", images({{1, 2}, {8, 8}, {3, 4}, {1, 2}}));
  enrolled.classes[0].moments = {0, 1, 0, 0};
  const StoredClass counted = by_moments(enrolled).classes[0];
  EXPECT_EQ(counted.count, 2);
  EXPECT_TRUE(at::equal(tensor_of(counted.features), at::tensor({2.0F, 3.0F, 8.0F, 8.0F}).view({2, 2})))
      << "the copy does not count";
}

TEST(Moments, CopiesChangeNoAnswer) {
  const StoreModel model = own_photos();
  const EnrolledClasses once = bursts({5, 5, 1});
  const ClassScorer alone(once, model), copied(with_copies(once, 3), model);
  EXPECT_TRUE(copied.score(questions()).logits == alone.score(questions()).logits);
  EXPECT_EQ(copied.count(0), 20);
}

TEST(Moments, CopiesPromiseNoMore) {
  const EnrolledClasses once = bursts({5, 5, 1});
  const ExpectedAccuracy alone = promise_of(once), copied = promise_of(with_copies(once, 3));
  EXPECT_EQ(copied.images, 100);
  EXPECT_EQ(copied.moments, 25);
  EXPECT_EQ(copied.asked, alone.asked);
  EXPECT_EQ(copied.accuracy, alone.accuracy);
  EXPECT_EQ(copied.low, alone.low);
  EXPECT_EQ(copied.high, alone.high);
  EXPECT_EQ(copied.gain, alone.gain);
  EXPECT_THAT(sentence_of(copied, "no base classes"),
              HasSubstr("5 classes, 100 photos, 25 moments, no base classes: "));
  EXPECT_THAT(sentence_of(copied, "no base classes"), HasSubstr("(leave-one-out over 25 moments)"));
  EXPECT_THAT(sentence_of(alone, "no base classes"), HasSubstr("5 classes, 25 photos, no base classes: "));
  EXPECT_THAT(sentence_of(alone, "no base classes"), HasSubstr("(leave-one-out over 25 photos)"));
}

TEST(Moments, CopiesCalibrateTheSame) {
  const EnrolledClasses once = bursts({5, 5, 1});
  const Calibration alone = calibration_of(once), copied = calibration_of(with_copies(once, 3));
  EXPECT_EQ(copied.images, alone.images);
  EXPECT_EQ(copied.unknown, alone.unknown);
  // Products of more rows are summed in another order.
  EXPECT_NEAR(copied.threshold, alone.threshold, 1e-5);
  EXPECT_NEAR(copied.factor, alone.factor, 1e-5);
  EXPECT_EQ(copied.accuracy, alone.accuracy);
}

TEST(Moments, AreLeftOutTogether) {
  const ExpectedAccuracy found = promise_of(bursts({5, 4, 3}));
  EXPECT_EQ(found.images, 60);
  EXPECT_EQ(found.moments, 20);
  EXPECT_EQ(found.asked, 20);
  EXPECT_EQ(calibration_of(bursts({5, 4, 3})).images, 20);
}

TEST(Moments, ACopiedPhotoAloneCannotBeLeftOut) {
  const ExpectedAccuracy found = promise_of(with_copies(bursts({3, 1, 1}), 1));
  EXPECT_EQ(found.asked, 0);
  EXPECT_THAT(sentence_of(found, "no base classes"), HasSubstr("enrol photos of two moments of a class"));
}

TEST(Moments, SwitchedOffEachPhotoCounts) {
  const ExpectedAccuracy found = promise_of(bursts({5, 4, 3}), /*moments=*/false);
  EXPECT_EQ(found.moments, 60);
  EXPECT_GT(found.asked, 20);
  EXPECT_EQ(found.accuracy, 1) << "each frame has others of its moment beside it";
  const StoreModel model = own_photos();
  ClassScorerOptions off;
  off.moments = false;
  const EnrolledClasses frames = bursts({5, 4, 3});
  EXPECT_FALSE(ClassScorer(frames, model, off).score(questions()).logits ==
               ClassScorer(frames, model).score(questions()).logits);
}

TEST(Moments, WithoutBurstsAnswersAreTheSame) {
  const StoreModel model = own_photos();
  ClassScorerOptions off;
  off.moments = false;
  const EnrolledClasses photos = bursts({5, 6, 1});
  EXPECT_TRUE(ClassScorer(photos, model).score(questions()).logits ==
              ClassScorer(photos, model, off).score(questions()).logits);
}

}  // namespace
}  // namespace protocom::testing
