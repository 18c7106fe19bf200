#include "protocom/nn/precision.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "protocom/core/error.h"

namespace protocom {
namespace {

const c10::Device kCpu(c10::kCPU);

at::ScalarType product_type() { return at::mm(at::ones({2, 2}), at::ones({2, 2})).scalar_type(); }

TEST(Precision, ReadsItsOwnNamesAndRefusesOthers) {
  for (Precision precision : {Precision::kAuto, Precision::kFloat32, Precision::kBFloat16}) {
    EXPECT_EQ(parse_precision(std::string(to_string(precision))), precision);
  }
  EXPECT_THROW(parse_precision("float64"), UsageError);
}

TEST(Precision, AScopeChangesProductsAndPutsBackWhatWas) {
  EXPECT_EQ(product_type(), at::kFloat);
  {
    const PrecisionScope low(Precision::kBFloat16, kCpu);
    EXPECT_EQ(product_type(), at::kBFloat16);
    {
      const PrecisionScope high(Precision::kFloat32, kCpu);
      EXPECT_EQ(product_type(), at::kFloat);
    }
    EXPECT_EQ(product_type(), at::kBFloat16);
  }
  EXPECT_EQ(product_type(), at::kFloat);
}

TEST(Precision, AutoBecomesOneOfTheTwoAndTheOthersStay) {
  EXPECT_NE(resolve_precision(Precision::kAuto, kCpu), Precision::kAuto);
  EXPECT_EQ(resolve_precision(Precision::kFloat32, kCpu), Precision::kFloat32);
  EXPECT_EQ(resolve_precision(Precision::kBFloat16, kCpu), Precision::kBFloat16);
}

}  // namespace
}  // namespace protocom
