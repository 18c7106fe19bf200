#include "fewshot/plda/detail/isotropic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fewshot/methods.h"
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

TEST(PldaIsotropic, TheScaleOfOneImageFallsWithTheRootOfTheDegrees) {
  const PldaAdaptation adaptation = as_without_space();
  const double usual = scale_without_folds(adaptation, 1000, 28, 28);
  EXPECT_EQ(scale_without_folds(adaptation, 128, 28, 28), usual) << "few dimensions";
  EXPECT_DOUBLE_EQ(scale_without_folds(adaptation, 2000, 28, 28), usual / std::sqrt(2));
  EXPECT_GT(scale_without_folds(adaptation, 2000, 56, 28), usual);
}

}  // namespace
}  // namespace protocom
