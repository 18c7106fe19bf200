#include "fewshot/plda/detail/added_between.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "fewshot/methods.h"
#include "fewshot/plda/detail/adaptation.h"
#include "fewshot/plda/detail/state.h"
#include "support/labelled.h"
#include "support/matrices.h"

namespace protocom {
namespace {

PldaAdaptation foreign(double added_between) { return {1000, 100, 5, false, false, added_between}; }

/// Takes sums over 20 dimensions.
IsotropicSums sums_of(double images, double classes, double within, double between) {
  IsotropicSums sums;
  sums.dims = 20;
  sums.images = images;
  sums.classes = classes;
  sums.within = within;
  sums.between = between;
  sums.error = classes / images;
  return sums;
}

TEST(AddedBetween, IsWhatClassMeansVaryByMoreThanTheFittedOnesTheMoreImagesSayIt) {
  // Five images of each of four classes: W = 64 / 16 = 4, V = 3, so V / W - 1 / 5 - .15 = .4, with 16 of 24 degrees.
  EXPECT_NEAR(added_between(foreign(0.1), sums_of(20, 4, 64, 3), 0.15), 0.1 + 16.0 / 24 * (0.4 - 0.1), 1e-12);
  // Two images of each: W = 4, V = 4, so 1 - 1 / 2 - .15 = .35, with 4 of 12.
  EXPECT_NEAR(added_between(foreign(0.1), sums_of(8, 4, 16, 4), 0.15), 0.1 + 4.0 / 12 * (0.35 - 0.1), 1e-12);
}

TEST(AddedBetween, IsTheUsualWhereNothingTellsItAndNoneIfNothingIsAdded) {
  EXPECT_EQ(added_between(foreign(0.1), sums_of(4, 4, 0, 3), 0.15), 0.1);
  EXPECT_EQ(added_between(foreign(0.1), sums_of(20, 1, 64, 0), 0.15), 0.1);
  EXPECT_EQ(added_between(foreign(0.1), sums_of(8, 4, 0, 4), 0.15), 0.1);
  EXPECT_EQ(added_between(foreign(-1), sums_of(20, 4, 64, 3), 0.15), 0);
  IsotropicSums rounding = sums_of(20, 4, 1e-12, 1e-9);
  rounding.dims = 0;
  EXPECT_EQ(added_between(foreign(0.1), rounding, 0), 0.1);
}

TEST(AddedBetween, IsNeverBelowZero) { EXPECT_EQ(added_between(foreign(0.1), sums_of(400, 4, 1600, 0.1), 0.5), 0); }

/// Returns the space of 20 base classes that vary in the first ten of fifty dimensions, in units of the variance
/// within, and little in the others.
PldaModel space_of_base_classes() {
  at::manual_seed(3);
  const at::Tensor labels = at::arange(20, at::kLong).repeat_interleave(30);
  at::Tensor means = 0.2 * at::randn({20, 50});
  means.narrow(1, 0, 10) *= 8;
  FitInputs inputs;
  inputs.base = testing::labelled(means.index_select(0, labels) + at::randn({600, 50}), labels);
  const auto method = make_method("plda");
  method->fit(inputs);
  return plda_model_of(method->as_space()->state());
}

/// Returns what that space infers from 20 classes of three images which vary by `beyond` outside those ten dimensions:
/// the mean of the variance between classes there.
double found_beyond(PldaModel model, double beyond) {
  at::manual_seed(4);
  const at::Tensor labels = at::arange(20, at::kLong).repeat_interleave(3);
  at::Tensor means = beyond * at::randn({20, 50});
  means.narrow(1, 0, 10) = 1.6 * at::randn({20, 10});
  const at::Tensor features = means.index_select(0, labels) + at::randn({60, 50});
  const int64_t leading = model.space.leading;
  return adapted(model, matrix_of(features), labels_of(labels), 20).space.between.tail(50 - leading).mean();
}

TEST(AddedBetween, GrowsWithHowFarClassesDifferWhereBaseClassesDoNot) {
  const PldaModel model = space_of_base_classes();
  ASSERT_GT(model.space.leading, 0);
  ASSERT_LT(model.space.leading, 50);
  PldaModel as_fitted = model;
  as_fitted.adaptation.added_between = -1;
  const auto factor = [&](double beyond) { return found_beyond(model, beyond) / found_beyond(as_fitted, beyond); };
  const double alike = factor(0.2), others = factor(0.7), far = factor(1.2);
  EXPECT_LT(alike, 1.5);
  EXPECT_GT(others, 2 * alike);
  EXPECT_GT(far, 1.5 * others);
}

TEST(AddedBetween, IsWritten) {
  const PldaModel model = space_of_base_classes();
  EXPECT_EQ(model.adaptation.added_between, 0.06);
  EXPECT_EQ(plda_model_of(state_of(model, {})).adaptation.added_between, 0.06);
}

}  // namespace
}  // namespace protocom
