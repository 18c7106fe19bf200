#include "recognizer/calibration.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "recognizer/detail/none_of_these.h"
#include "recognizer/recognizer_support.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kDim = 8;

/// Returns classes of `images` images each around centres of length `apart`.
EnrolledClasses clusters(int64_t classes, int64_t images, double apart, uint64_t seed = 7) {
  auto generator = at::detail::createCPUGenerator(seed);
  EnrolledClasses enrolled;
  enrolled.feature_dim = kDim;
  enrolled.attributes = {"tail"};
  for (int64_t k = 0; k < classes; ++k) {
    StoredClass one;
    one.name = "class " + std::to_string(k);
    one.description = description(1);
    one.count = images;
    one.features = array_of(apart * at::randn({1, kDim}, generator) + at::randn({images, kDim}, generator));
    enrolled.classes.push_back(one);
  }
  return enrolled;
}

StoreModel model() { return store_model(std::vector<float>(kDim)); }

/// Returns images of classes that are not among those of clusters().
Array unknown_images(int64_t n, uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  return array_of(3 * at::randn({n, kDim}, generator) + at::randn({n, kDim}, generator));
}

class Calibrating : public ::testing::Test {
 protected:
  Calibration run(const EnrolledClasses& enrolled, const Array& others, double rate = 0.05) {
    CalibrationOptions options;
    options.false_accept = rate;
    return calibrate(ClassScorer(enrolled, model_, {"mean"}), others, options, Progress::none());
  }
  StoreModel model_ = model();
};

TEST(Familiarity, IsTheLogOddsAgainstAClassNeverSeenOrTheHighestLogit) {
  QueryScores scores;
  scores.logits.resize(1, 2);
  scores.logits << 1, 2;
  EXPECT_NEAR(familiarity(scores)[0], 2, 1e-6);
  scores.unseen = Eigen::VectorXf::Constant(1, 0.5F);
  EXPECT_NEAR(familiarity(scores)[0], std::log(std::exp(1.0) + std::exp(2.0)) - 0.5, 1e-6);
}

TEST(CalibrationFor, OfAMethodServesWhatTakesItsFileByItsThreshold) {
  Calibration made;
  made.method = "plda";
  made.factor = 3;
  made.threshold = 2;
  EXPECT_EQ(calibration_for(*make_method("plda"), made)->factor, 3);
  const auto served = calibration_for(*make_method("plda-vb"), made);
  ASSERT_TRUE(served);
  EXPECT_EQ(served->factor, 1);
  EXPECT_EQ(served->threshold, 2);
  EXPECT_FALSE(calibration_for(*make_method("plda-vb:prior=none"), made));
  EXPECT_FALSE(calibration_for(*make_method("mean"), made));
}

TEST_F(Calibrating, AnImageHeldOutIsScoredAsIfItHadNeverBeenEnrolled) {
  EnrolledClasses enrolled = clusters(4, 3, 1);
  const ClassScorer scorer(enrolled, model_, {"mean"});
  const FloatMatrix held_out = scorer.score_without_images(2, {1}).logits;
  const Array image = enrolled.classes[2].features.rows(1, 2);
  enrolled.classes[2].features = enrolled.classes[2].features.gathered({0, 2});
  enrolled.classes[2].count = 2;
  const ClassScorer without(enrolled, model_, {"mean"});
  EXPECT_TRUE(held_out.isApprox(without.score(image).logits, 1e-5F));
}

TEST_F(Calibrating, AClassHeldOutIsScoredAsIfItHadNeverBeenEnrolled) {
  EnrolledClasses enrolled = clusters(4, 3, 1);
  const ClassScorer scorer(enrolled, model_, {"mean"});
  const FloatMatrix held_out = scorer.score_without_class(1).logits;
  const Array images = enrolled.classes[1].features;
  enrolled.classes.erase(enrolled.classes.begin() + 1);
  const ClassScorer without(enrolled, model_, {"mean"});
  EXPECT_TRUE(held_out.isApprox(without.score(images).logits, 1e-5F));
}

TEST_F(Calibrating, TheThresholdAcceptsAtMostTheRateOfUnknownImages) {
  const EnrolledClasses enrolled = clusters(10, 5, 3);
  const Array others = unknown_images(19, 1);
  const ClassScorer scorer(enrolled, model_, {"mean"});
  const DoubleVector familiar = familiarity(scorer.score(others));
  EXPECT_EQ(run(enrolled, others, 0.05).threshold, familiar.maxCoeff()) << "one of 20 would be above it";
  EXPECT_EQ((familiar.array() > run(enrolled, others, 0.5).threshold).count(), 9) << "10 of 20 at most";
  EXPECT_THAT(message_of([&] { run(enrolled, unknown_images(18, 1), 0.05); }), HasSubstr("at least 19 unknown images"));
  const Calibration made = run(enrolled, unknown_images(400, 1), 0.1);
  const DoubleVector fresh = familiarity(scorer.score(unknown_images(2000, 2)));
  EXPECT_LT((fresh.array() > made.threshold).cast<double>().mean(), 0.15);
  EXPECT_GT(made.accepted, 0.3) << "or it would say none of these to everything";
}

TEST_F(Calibrating, WithoutUnknownImagesEachClassIsLeftOutInTurn) {
  const EnrolledClasses enrolled = clusters(10, 5, 3);
  const Calibration made = run(enrolled, {}, 0.1);
  EXPECT_EQ(made.unknown, 50);
  EXPECT_EQ(made.images, 50);
  EXPECT_GT(made.accuracy, 0.9);
  EXPECT_GT(made.accepted, made.false_accept);
}

TEST_F(Calibrating, TheRateIsCorrectedForTheClassLeftOut) {
  const EnrolledClasses enrolled = clusters(5, 20, 3);
  const ClassScorer scorer(enrolled, model_, {"mean"});
  const double threshold = run(enrolled, {}, 0.25).threshold;
  double passed = 0;
  for (int64_t k = 0; k < 5; ++k)
    passed += (familiarity(scorer.score_without_class(k)).array() > threshold).cast<double>().mean() / 5;
  EXPECT_LE(passed, 0.2) << "times 5 / 4 is the rate that was requested";
  EXPECT_GT(passed, 0.17);
}

TEST_F(Calibrating, WithoutARateFalseAcceptsEqualFalseRefusals) {
  const EnrolledClasses enrolled = clusters(10, 5, 2);
  const Calibration made =
      calibrate(ClassScorer(enrolled, model_, {"mean"}), unknown_images(200, 1), {}, Progress::none());
  EXPECT_TRUE(made.balanced);
  EXPECT_NEAR(made.false_accept, 1 - made.accepted, 0.03);
  EXPECT_FALSE(run(enrolled, {}, 0.3).balanced);
  ASSERT_EQ(made.exchange.size(), kExchangeRates.size());
  for (size_t i = 0; i < made.exchange.size(); ++i) {
    const Calibration asked = run(enrolled, unknown_images(200, 1), kExchangeRates[i]);
    EXPECT_EQ(made.exchange[i].false_accept, kExchangeRates[i]);
    EXPECT_EQ(made.exchange[i].accepted, asked.accepted);
    EXPECT_EQ(made.exchange[i].threshold, asked.threshold);
    if (i > 0) {
      EXPECT_LE(made.exchange[i - 1].accepted, made.exchange[i].accepted);
    }
  }
}

/// The first `enrolled` images of each class, and the familiarities of the others to a recognizer of these.
struct Halves {
  EnrolledClasses enrolled;
  std::vector<Array> fresh;
};

Halves halves(int64_t classes, int64_t enrolled, double apart, uint64_t seed = 7) {
  constexpr int64_t kFresh = 40;
  Halves made{clusters(classes, enrolled + kFresh, apart, seed), {}};
  for (StoredClass& one : made.enrolled.classes) {
    made.fresh.push_back(one.features.rows(enrolled, enrolled + kFresh));
    one.features = one.features.rows(0, enrolled);
    one.count = enrolled;
  }
  return made;
}

/// Returns the share of images of a recognizer's classes, equally many of each, that it refuses.
double refused_of(const ClassScorer& scorer, const std::vector<Array>& fresh, double threshold) {
  double refused = 0;
  for (const Array& images : fresh)
    refused += (familiarity(scorer.score(images)).array() <= threshold).cast<double>().mean();
  return refused / static_cast<double>(fresh.size());
}

TEST_F(Calibrating, ByDefaultAtMostFiveInAHundredOfTheOwnImagesAreRefused) {
  for (const int64_t images : {1, 2, 5}) {
    constexpr int kSeeds = 20;
    double refused = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const Halves given = halves(12, images, 3, seed);
      const ClassScorer scorer(given.enrolled, model_, {"mean"});
      const Calibration made = calibrate(scorer, {}, {}, Progress::none());
      EXPECT_FALSE(made.similar || made.balanced);
      EXPECT_EQ(made.images > 0, images > 1) << "or it stands on classes left out";
      refused += refused_of(scorer, given.fresh, made.threshold) / kSeeds;
    }
    EXPECT_LE(refused, 0.05) << images;
  }
}

TEST_F(Calibrating, ByDefaultWhatIsFarFromAllClassesIsRefused) {
  for (const int64_t images : {2, 5}) {
    const ClassScorer scorer(clusters(12, images, 3), model_, {"mean"});
    const Calibration made = calibrate(scorer, {}, {}, Progress::none());
    auto generator = at::detail::createCPUGenerator(4);
    const Array far = array_of(40 * at::randn({100, kDim}, generator));
    EXPECT_GT((familiarity(scorer.score(far)).array() <= made.threshold).cast<double>().mean(), 0.9) << images;
    CalibrationOptions alone;
    alone.threshold_alone = true;
    const Calibration first = calibrate(scorer, {}, alone, Progress::none());
    EXPECT_EQ(first.threshold, made.threshold);
    EXPECT_EQ(first.unknown, 0);
    EXPECT_EQ(first.factor, 1);
  }
}

TEST_F(Calibrating, SimilarKindsAreRefusedWhereThatIsAskedForAtTheCostOfOwnImages) {
  const ClassScorer scorer(clusters(12, 5, 1), model_, {"mean"});
  CalibrationOptions similar;
  similar.similar = true;
  const Calibration strict = calibrate(scorer, {}, similar, Progress::none());
  EXPECT_TRUE(strict.similar && strict.balanced);
  const Calibration made = calibrate(scorer, {}, {}, Progress::none());
  EXPECT_GT(strict.threshold, made.threshold);
  EXPECT_LT(strict.accepted, made.accepted);
  EXPECT_LT(strict.false_accept, made.false_accept);
}

TEST_F(Calibrating, OneClassIsEnoughForWhatIsSomethingElse) {
  EXPECT_EQ(calibrate(ClassScorer(clusters(1, 8, 3), model_, {"mean"}), {}, {}, Progress::none()).unknown, 0);
  EXPECT_THAT(
      message_of([&] { calibrate(ClassScorer(clusters(2, 1, 3), model_, {"mean"}), {}, {}, Progress::none()); }),
      HasSubstr("0 images (a burst counts once) and 2 classes can be held out, expected at least 4 of either"));
}

TEST_F(Calibrating, AClassOfOneImageIsNotHeldOutWhereItIsKnownByImagesAlone) {
  const ClassScorer single(clusters(3, 1, 3), model_, {"plda"});
  ASSERT_TRUE(single.adapts());
  EXPECT_THAT(message_of([&] { calibrate(single, {}, {}, Progress::none()); }),
              HasSubstr("0 images (a burst counts once) and 3 classes can be held out, expected at least 4 of either"));
}

TEST(OwnThreshold, IsTheConformalQuantileAndOfFewImagesANormalBound) {
  const auto spaced = [](int64_t n) { return DoubleVector(DoubleVector::LinSpaced(n, 1, static_cast<double>(n))); };
  EXPECT_NEAR(own_threshold(spaced(10)), 5.5 - 2.2622 * std::sqrt(82.5 / 9 * 1.1), 2e-3) << "9 degrees of freedom";
  EXPECT_NEAR(own_threshold(spaced(6)), 3.5 - 2.5706 * std::sqrt(3.5 * 7 / 6), 1e-2);
  EXPECT_LT(own_threshold(spaced(21)), 1);
  EXPECT_EQ(own_threshold(spaced(22)), 1) << "4.5 of a hundred are one of twenty-three";
  EXPECT_EQ(own_threshold(spaced(43)), 1);
  EXPECT_EQ(own_threshold(spaced(44)), 2);
  DoubleVector outlier = spaced(45);
  outlier[0] = outlier[1] = -1000;
  EXPECT_EQ(own_threshold(outlier), -1000) << "two of forty-six";
  outlier[1] = 2;
  EXPECT_EQ(own_threshold(outlier), 2) << "one image alone does not move it";
  EXPECT_NEAR(own_slope(spaced(3), -1), 2 * 3 / 1.0, 1e-9);
}

TEST(OwnThreshold, From22ImagesOnRefusesAtMostItsShareForAnyDistribution) {
  constexpr int64_t kTrials = 4000;
  Rng rng(1);
  for (const int64_t n : {22, 44, 50, 100}) {
    int64_t refused = 0;
    for (int64_t trial = 0; trial < kTrials; ++trial) {
      DoubleVector own(n);
      for (double& value : own) value = -std::exp(rng.normal());  // a long tail below
      refused += -std::exp(rng.normal()) < own_threshold(own) ? 1 : 0;
    }
    EXPECT_LT(static_cast<double>(refused) / kTrials, kOwnAim + 0.012) << n;
  }
}

TEST(IsOfClasses, ThoseOfTheSameNumbersAreTheSameUnderOtherNames) {
  Calibration made;
  made.classes = 2;
  made.names = hash_of_names({"a", "b"});
  EXPECT_FALSE(is_of_classes(made, {"a", "c"}, {1, 2})) << "of earlier versions";
  made.class_ids = hash_of_ids({1, 2});
  EXPECT_TRUE(is_of_classes(made, {"a", "c"}, {1, 2}));
  EXPECT_TRUE(is_of_classes(made, {"b", "a"}, {1, 3})) << "removed, and enrolled again";
  EXPECT_FALSE(is_of_classes(made, {"a", "c"}, {1, 3}));
}

TEST_F(Calibrating, SaysWhatItCostsInPhotos) {
  Calibration made;
  made.accepted = 0.952;
  made.images = 40;
  EXPECT_EQ(cost_sentence(made, "similar kinds"), "5 of 100 of your own photos are refused");
  made.unknown = 9;
  made.false_accept = 0.38;
  EXPECT_EQ(cost_sentence(made, "similar kinds"),
            "5 of 100 of your own photos are refused; 38 of 100 of similar kinds pass");
  made.images = 0;
  EXPECT_THAT(cost_sentence(made, "those"),
              HasSubstr("should be refused, by classes left out; 38 of 100 of those pass"));
}

TEST_F(Calibrating, LogsTheCostOfARateAndWarnsWhereMostImagesAreRefused) {
  Calibration made;
  made.exchange = {{0.02, 0.25, 4}, {0.05, 0.5, 3}, {0.1, 0.625, 2}};
  EXPECT_EQ(exchange_sentence(made), "at 5 % false accepts, 50 % of your own photos are kept; at 10 %: 62 %");
  made.accepted = 0.59;
  EXPECT_THAT(warning_of_few_kept(made), HasSubstr("41 % of your own photos will be called 'none of these'"));
  made.accepted = 0.6;
  EXPECT_EQ(warning_of_few_kept(made), "");
  EXPECT_EQ(run(clusters(3, 3, 3), {}, 0.5).exchange.size(), 4u)
      << "15, 20, 30 and 50 %: nine images are enough for 15 % (a tenth, with three classes), and for no less";
}

TEST(ProbabilityOfNone, IsAHalfAtTheThresholdAndFallsWithFamiliarity) {
  Calibration made;
  made.threshold = 2;
  made.slope = 3;
  EXPECT_EQ(probability_of_none(made, 2), 0.5);
  EXPECT_NEAR(probability_of_none(made, 3), 1 / (1 + std::exp(3.0)), 1e-12);
  EXPECT_EQ(probability_of_none(made, -1e6), 1);
}

TEST_F(Calibrating, ProbabilitiesMatchTheAccuracy) {
  const auto sureness = [&](const EnrolledClasses& enrolled) {
    const Calibration made = run(enrolled, {}, 0.5);
    const ClassScorer scorer(enrolled, model_, {"mean"});
    double sum = 0;
    for (int64_t k = 0; k < 10; ++k) {
      const FloatMatrix logits = scorer.score_without_images(k, {0}).logits;
      const double highest = made.factor * static_cast<double>(logits.maxCoeff());
      sum += std::exp(highest - log_sum_exp(logits, made.factor)[0]) / 10;
    }
    return std::pair{sum, made.accuracy};
  };
  const auto [unsure, chance] = sureness(clusters(10, 20, 0));
  EXPECT_NEAR(unsure, chance, 0.12) << "classes that are all alike";
  const auto [sure, right] = sureness(clusters(10, 20, 3));
  EXPECT_NEAR(sure, right, 0.12);
  EXPECT_GT(sure, 0.8);
}

TEST_F(Calibrating, SaysWhatItLacks) {
  EXPECT_THAT(message_of([&] { run(clusters(3, 1, 3), unknown_images(30, 1)); }),
              HasSubstr("no class has two images (a burst counts once)"));
  EXPECT_THAT(message_of([&] { run(clusters(1, 4, 3), {}); }), HasSubstr("images of other things (others)"));
  EXPECT_THAT(usage_message_of([&] { run(clusters(3, 2, 3), {}, 0); }), HasSubstr("between 0 and 1"));
  EXPECT_THAT(message_of([&] { run(clusters(3, 2, 3), unknown_images(5, 1), 1e-300); }),
              HasSubstr("needs at least 1e+300 unknown images"));
}

TEST(CalibrationJson, ComesBackAndIsCheckedWhenItDoes) {
  Calibration made;
  made.method = "mean";
  made.factor = 2.5;
  made.threshold = -1.25;
  made.unknown = 40;
  made.slope = 0.5;
  made.balanced = true;
  made.similar = false;
  made.class_ids = "7f";
  made.exchange = {{0.05, 0.5, 3}};
  const Calibration read = calibration_from(to_json(made), "a.pcm");
  EXPECT_EQ(read.factor, 2.5);
  EXPECT_EQ(read.threshold, -1.25);
  EXPECT_EQ(read.unknown, 40);
  EXPECT_EQ(read.slope, 0.5);
  EXPECT_TRUE(read.balanced);
  EXPECT_FALSE(read.similar);
  EXPECT_EQ(read.class_ids, "7f");
  ASSERT_EQ(read.exchange.size(), 1u);
  EXPECT_EQ(read.exchange[0].accepted, 0.5);
  nlohmann::json damaged = to_json(made);
  damaged["factor"] = -1;
  EXPECT_THAT(message_of([&] { calibration_from(damaged, "a.pcm"); }), HasSubstr("a.pcm: the calibration is damaged"));
  damaged.erase("factor");
  EXPECT_THAT(message_of([&] { calibration_from(damaged, "a.pcm"); }), HasSubstr("factor"));
  damaged = to_json(made);
  damaged["images"] = 1.5;
  EXPECT_THAT(message_of([&] { calibration_from(damaged, "a.pcm"); }), HasSubstr("a whole number"));
  damaged = to_json(made);
  damaged["accepted"] = 5;
  EXPECT_THAT(message_of([&] { calibration_from(damaged, "a.pcm"); }), HasSubstr("a share of 5"));
}

TEST_F(SmallRecognizer, ACalibrationIsKeptUsedAndUndone) {
  Recognizer pets = Recognizer::open(path_);
  pets.enrol({request("dark", {photo("1.png", 10), photo("2.png", 20), photo("3.png", 30)}),
              request("bright", {photo("4.png", 220), photo("5.png", 230), photo("6.png", 240)})});
  CalibrationOptions options;
  options.false_accept = 0.5;
  const Calibration made = pets.calibrate({photo("7.png", 120), photo("8.png", 130)}, options);
  Recognizer again = Recognizer::open(path_);
  ASSERT_TRUE(again.calibration());
  EXPECT_EQ(again.calibration()->threshold, made.threshold);
  const Answer answer = again.classify(folder_ / "1.png");
  ASSERT_TRUE(answer.none_of_these);
  EXPECT_EQ(*answer.none_of_these, answer.familiarity <= made.threshold);
  ASSERT_TRUE(answer.none);
  EXPECT_EQ(*answer.none, probability_of_none(made, answer.familiarity));
  double sum = *answer.none;
  for (const RankedClass& one : answer.ranking) sum += one.probability;
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_FALSE(Recognizer::open(path_, {"mean"}).classify(folder_ / "1.png").none_of_these)
      << "it is for one method alone";
  again.file().undo();
  EXPECT_FALSE(again.calibration());
}

TEST_F(SmallRecognizer, ARenamedClassIsStillTheOneThatWasCalibrated) {
  Recognizer pets = Recognizer::open(path_);
  pets.enrol({request("dark", {photo("1.png", 10), photo("2.png", 20), photo("3.png", 30)}),
              request("bright", {photo("4.png", 220), photo("5.png", 230), photo("6.png", 240)})});
  CalibrationOptions options;
  options.similar = true;
  pets.calibrate({}, options);
  pets.file().rename_class("dark", "black");
  const Logged logged;
  EXPECT_TRUE(pets.classify(folder_ / "1.png").none_of_these);
  EXPECT_THAT(logged.text(), ::testing::Not(HasSubstr("different from")));
  pets.file().remove_class("bright");
  pets.enrol({request("grey", {photo("7.png", 120)})});
  pets.classify(folder_ / "1.png");
  EXPECT_THAT(logged.text(), HasSubstr("different from"));
}

}  // namespace
}  // namespace protocom::testing
