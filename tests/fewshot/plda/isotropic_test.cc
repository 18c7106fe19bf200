#include "fewshot/plda/detail/isotropic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "fewshot/methods.h"
#include "fewshot/plda/detail/adapted_axes.h"
#include "fewshot/plda/detail/state.h"

namespace protocom {
namespace {

PldaAdaptation as_without_space() { return plda_model_of(make_method("plda")->state()).adaptation; }

TEST(PldaIsotropic, DegreesGrowWithClassesOfOneImageToTwoForEachDimension) {
  const PldaAdaptation adaptation = as_without_space();
  EXPECT_EQ(isotropic_degrees(adaptation, 1280, 5, 5), 1000);
  EXPECT_EQ(isotropic_degrees(adaptation, 1280, 28, 28), 1680);
  EXPECT_EQ(isotropic_degrees(adaptation, 1280, 100, 100), 2560);
  EXPECT_EQ(isotropic_degrees(adaptation, 64, 28, 28), 128);
}

TEST(PldaIsotropic, DegreesStayWhereAClassHasTwoImagesOrOthersAreUnlabelled) {
  PldaAdaptation adaptation = as_without_space();
  EXPECT_EQ(isotropic_degrees(adaptation, 1280, 29, 28), 1000);
  adaptation.unlabelled = true;
  EXPECT_EQ(isotropic_degrees(adaptation, 1280, 28, 28), 1000);
}

TEST(PldaIsotropic, ClassMeansCountLessWhereAClassHasTwoImagesAndNoneAreUnlabelled) {
  PldaAdaptation adaptation = as_without_space();
  EXPECT_EQ(class_mean_weight(adaptation, 28, 28), 1);
  EXPECT_EQ(class_mean_weight(adaptation, 29, 28), 0.4);
  adaptation.unlabelled = true;
  EXPECT_EQ(class_mean_weight(adaptation, 29, 28), 1);
}

/// Returns losses of four images at some degrees, the `i`th larger by i / 100.
std::function<std::optional<ScaledLoss>(double)> losses_at(const std::map<double, double>& loss,
                                                           std::vector<double>* asked) {
  return [=](double degrees) {
    asked->push_back(degrees);
    const double own = loss.at(degrees);
    return ScaledLoss{{own, own + 0.01, own + 0.02, own + 0.03}, degrees, 1};
  };
}

TEST(PldaIsotropic, DegreesWithTheLeastLossAreChosenAndNoneBeyondWhereItRises) {
  std::vector<double> asked;
  const auto chosen = [&](const std::map<double, double>& loss) {
    asked.clear();
    const ChosenDegrees found = choose_isotropic_degrees(1000, losses_at(loss, &asked));
    EXPECT_EQ(found.left_out->scale, found.degrees) << "the losses are those of the degrees";
    return found.degrees;
  };
  EXPECT_EQ(chosen({{1000, 1}, {3000, 1.1}, {300, 0.9}, {100, 0.8}}), 100);
  EXPECT_EQ(chosen({{1000, 1}, {3000, 0.7}, {300, 0.9}, {100, 0.8}}), 3000);
  EXPECT_EQ(chosen({{1000, 1}, {3000, 1.1}, {300, 0.8}, {100, 0.9}}), 300);
  EXPECT_EQ(chosen({{1000, 1}, {3000, 1}, {300, 1.1}}), 1000);
  EXPECT_EQ(asked, (std::vector<double>{1000, 3000, 300}));
}

TEST(PldaIsotropic, DegreesStayWhereOthersAreNotSurelyBetterOrNoImageIsLeftOut) {
  const auto uneven = [](double degrees) {  // better for three of four images, by less than the standard error
    return ScaledLoss{degrees == 1000 ? std::vector<double>{1, 1, 1, 1} : std::vector<double>{0.8, 0.8, 0.8, 1.5}, 1,
                      1};
  };
  EXPECT_EQ(choose_isotropic_degrees(1000, uneven).degrees, 1000);
  const ChosenDegrees none = choose_isotropic_degrees(1000, [](double) { return std::nullopt; });
  EXPECT_EQ(none.degrees, 1000);
  EXPECT_FALSE(none.left_out);
}

TEST(PldaIsotropic, WhatIsAskedForComesBeforeAllRules) {
  PldaAdaptation adaptation = as_without_space();
  adaptation.fixed_degrees = 30;
  adaptation.fixed_class_means = 0;
  EXPECT_EQ(isotropic_degrees(adaptation, 10, 28, 28), 30);
  EXPECT_EQ(class_mean_weight(adaptation, 28, 28), 0);
  EXPECT_EQ(class_mean_weight(adaptation, 56, 28), 0);
}

TEST(PldaIsotropic, TheScaleIsTheScaledSpreadOverASpreadThatFewClassesTellRoughly) {
  const SpreadPrior prior{40, 6};
  EXPECT_NEAR(scale_of_spread(prior, 1.5, 10, 1000), 1.5 / 10, 1e-4);
  EXPECT_DOUBLE_EQ(scale_of_spread(prior, 1.5, 10, 4), 1.5 / 20) << "six pairs: half way";
  EXPECT_DOUBLE_EQ(scale_of_spread(prior, 1.5, 0, 1000), 1.5 / 40) << "no spread is known";
}

TEST(PldaIsotropic, ScaledSpreadsGrowFromImagesLeftOutToAllOfThem) {
  const ScaledLoss left_out{{}, 0.1, 20};
  const double of_two = scale_of_few(left_out, 2, 20, 1000), of_three = scale_of_few(left_out, 3, 20, 1000);
  EXPECT_GT(of_two, of_three);
  EXPECT_GT(of_three, 0.1);
  EXPECT_NEAR(scale_of_few(left_out, 3, 40, 1000), of_three / 2, 1e-4) << "scores lie farther apart";
  EXPECT_GT(scale_of_few(left_out, 3, 40, 5), of_three / 1.9) << "five classes do not say surely by how much";
  EXPECT_EQ(scale_of_few({{}, 0.1, 0}, 3, 40, 2), 0.1) << "no spread is known";
}

TEST(PldaIsotropic, WithOneImagePerClassTheScaleIsOneOfItsOwnInFewDimensionsAndThatOfTheSpreadFrom64On) {
  const double by_spread = scale_of_one(30, 10, 512);
  EXPECT_EQ(scale_of_one(30, 10, 64), by_spread);
  EXPECT_NEAR(scale_of_one(60, 1000, 64), scale_of_one(30, 1000, 64) / 2, 1e-3);
  for (const double dims : {2, 4, 16}) EXPECT_EQ(scale_of_one(30, 10, dims), scale_of_one(60, 3, 2)) << dims;
  EXPECT_DOUBLE_EQ(scale_of_one(30, 10, 32), std::sqrt(scale_of_one(30, 10, 2) * by_spread)) << "half way, in octaves";
}

TEST(PldaIsotropic, TheSpreadOfScoresIsOfTheOtherClassesAlone) {
  ScoreSpread spread;
  EXPECT_EQ(spread.value(), 0);
  const std::vector<double> three = {1, 100, 3}, two = {5, 9}, one = {4};
  spread.add(three.data(), 3, 1);
  EXPECT_DOUBLE_EQ(spread.value(), std::sqrt(2));
  spread.add(two.data(), 2);
  EXPECT_DOUBLE_EQ(spread.value(), std::sqrt((2.0 + 8) / 2));
  spread.add(one.data(), 1);
  spread.add(two.data(), 2, 0);
  EXPECT_DOUBLE_EQ(spread.value(), std::sqrt((2.0 + 8) / 2)) << "a row of one tells nothing";
}

TEST(PldaIsotropic, ThePriorOfTheScaleFollowsTheSpreadAndImagesOutweighIt) {
  const auto scale_of = [](double unit, size_t images, const ScalePrior& prior) {
    // One of ten is misclassified.
    std::vector<double> logs;
    std::vector<int64_t> labels;
    for (size_t i = 0; i < images; ++i) {
      for (const double value : {2.0, 0.0, 1.0}) logs.push_back(unit * value);
      labels.push_back(i % 10 == 0 ? 2 : 0);
    }
    return most_likely_scale(logs, labels, 3, prior).scale;
  };
  constexpr double kStep = 1.2;
  const ScalePrior low{0.5, 0.1}, high{5, 0.1};
  EXPECT_LT(scale_of(10, 4, low), scale_of(10, 4, high) / 3);
  EXPECT_NEAR(std::log(scale_of(40, 4, low) / scale_of(10, 4, low)), -std::log(4), 2 * std::log(kStep));
  EXPECT_NEAR(std::log(scale_of(10, 4000, high) / scale_of(10, 4000, low)), 0, 2 * std::log(kStep));
}

TEST(PldaIsotropic, AFoldLeavesOutNearImagesOfSomeClassesAndFarOnesOfOthers) {
  std::vector<double> distances;
  std::vector<int64_t> labels;
  for (int64_t c = 0; c < 6; ++c) {
    for (int64_t i = 0; i < 3; ++i) {
      distances.push_back(static_cast<double>(10 * i + c));
      labels.push_back(c);
    }
  }
  for (const ImageFold& fold : image_folds(distances, labels, 6, 3)) {
    ASSERT_EQ(fold.left_out.size(), 6U);
    std::vector<int64_t> of_rank(3);
    for (const int64_t i : fold.left_out) ++of_rank[static_cast<size_t>(i % 3)];
    EXPECT_EQ(of_rank, (std::vector<int64_t>{2, 2, 2}));
  }
}

/// Returns seven classes of `images` rows in `dims` dimensions, some of which vary more.
ClassRows many_rows(int64_t images, int64_t dims) {
  constexpr int64_t kClasses = 7;
  Rng rng(5);
  const DoubleMatrix means = DoubleMatrix::NullaryExpr(kClasses, dims, [&] { return 0.4 * rng.normal(); });
  ClassRows rows{DoubleMatrix(images, dims), {}, kClasses};
  for (int64_t i = 0; i < images; ++i) {
    rows.label.push_back(i % kClasses);
    for (int64_t k = 0; k < dims; ++k) {
      const double deviation = 0.3 + static_cast<double>(k) / static_cast<double>(dims);
      rows.x(i, k) = means(i % kClasses, k) + deviation * rng.normal();
    }
  }
  return rows;
}

/// Returns the rows with columns of zeros, too many for moments: the space is made row by row.
ClassRows row_by_row(const ClassRows& rows) {
  ClassRows wider{DoubleMatrix::Zero(rows.images(), rows.images() / 4 + 1), rows.label, rows.classes};
  wider.x.leftCols(rows.x.cols()) = rows.x;
  return wider;
}

DoubleMatrix products_of(const AdaptedSpace& space, const DoubleMatrix& x) {
  const DoubleMatrix places = space.axes.place(x).x;
  return places * places.transpose();
}

TEST(PldaIsotropic, OfManyRowsTheMomentsMakeTheSpaceThatTheRowsMake) {
  constexpr int64_t kImages = 2100, kOwn = 24;
  constexpr double kDims = 40;
  const ClassRows rows = many_rows(kImages, kOwn), wider = row_by_row(rows);
  for (const LeftOut which : {LeftOut::kEnough, LeftOut::kAll}) {
    const AdaptedSpace found = isotropic_space(rows, kDims, as_without_space(), which);
    const AdaptedSpace expected = isotropic_space(wider, kDims, as_without_space(), which);
    EXPECT_EQ(found.nu, expected.nu);
    EXPECT_DOUBLE_EQ(found.degrees, expected.degrees);
    EXPECT_NEAR(found.left_out->scale, expected.left_out->scale, 1e-4 * expected.left_out->scale);
    ASSERT_EQ(found.left_out->loss.size(), expected.left_out->loss.size());
    for (size_t i = 0; i < found.left_out->loss.size(); ++i) {
      ASSERT_NEAR(found.left_out->loss[i], expected.left_out->loss[i], 1e-4) << i;
    }
    const DoubleMatrix own = products_of(found, rows.x.topRows(50)), other = products_of(expected, wider.x.topRows(50));
    EXPECT_LT((own - other).norm(), 1e-5 * other.norm());
    EXPECT_NEAR(found.axes.space.between.sum(), expected.axes.space.between.sum(),
                1e-5 * found.axes.space.between.sum());
    EXPECT_NEAR(found.axes.space.rest_between, expected.axes.space.rest_between, 1e-5 * found.axes.space.rest_between);
  }
}

}  // namespace
}  // namespace protocom
