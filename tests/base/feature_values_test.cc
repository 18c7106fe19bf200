#include "base/feature_values.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string complaint(const at::Tensor& features) {
  try {
    check_features(array_of(features), "f.npz");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(FeatureValues, OfUsualEncodersAreTaken) {
  EXPECT_EQ(complaint(at::tensor({0.01F, -1000.F, 0.F}).view({1, 3})), "none");
  EXPECT_EQ(complaint(at::full({3, 2}, 65504.0).to(at::kHalf)), "none") << "the largest that float16 holds";
  EXPECT_EQ(complaint(at::zeros({2, 3})), "none");
  EXPECT_EQ(complaint(at::zeros({0, 3})), "none");
}

TEST(FeatureValues, ThatWouldOverflowWhenSquaredAreRefusedWithTheirRowAndSize) {
  at::Tensor features = at::ones({4, 3});
  features[2][1] = -9e18;
  features[3][0] = 1e25;
  EXPECT_THAT(complaint(features), AllOf(HasSubstr("f.npz: features hold a number of size 9e+18, more than 1e+08"),
                                         HasSubstr("alike) in 2 rows, first in row 2")));
}

TEST(FeatureValues, ThatWouldVanishWhenSquaredAreRefused) {
  EXPECT_THAT(complaint(at::full({2, 3}, 1e-25)), HasSubstr("no number of at least 1e-08"));
  at::Tensor mixed = at::full({2, 3}, 1e-25);
  mixed[1][1] = 0.5;  // a row of almost zero beside others counts as zero
  EXPECT_EQ(complaint(mixed), "none");
}

TEST(FeatureValues, OfNaNAndInfinityAreRefusedInEveryType) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity(), 1e300}) {
    const at::Tensor features = at::ones({3, 2}, at::kDouble);
    features[1][0] = bad;
    EXPECT_THAT(complaint(features), HasSubstr("NaN or infinity in 1 rows, first in row 1"));
  }
}

}  // namespace
}  // namespace protocom
