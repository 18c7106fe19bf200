#include "networks/device_precision.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>

#include "base/error.h"
#include "support/bfloat16.h"

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
  if (testing::refuses_bfloat16()) {
    EXPECT_THROW(PrecisionScope(Precision::kBFloat16, kCpu), UsageError);
    EXPECT_EQ(product_type(), at::kFloat);
    return;
  }
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

TEST(Precision, AutoBecomesOneOfTheTwoAndFloat32Stays) {
  EXPECT_NE(resolve_precision(Precision::kAuto, kCpu), Precision::kAuto);
  EXPECT_EQ(resolve_precision(Precision::kFloat32, kCpu), Precision::kFloat32);
}

TEST(Precision, BFloat16IsRefusedWhereItsProductsAreNotSummedInFloat32) {
  if (testing::refuses_bfloat16()) {
#if defined(__x86_64__)
    const bool limited = std::getenv("DNNL_MAX_CPU_ISA") != nullptr;  // some of the values that it may have
    EXPECT_TRUE(limited || !__builtin_cpu_supports("avx512bf16"));
#endif
    return;
  }
  EXPECT_EQ(resolve_precision(Precision::kBFloat16, kCpu), Precision::kBFloat16);
  const PrecisionScope low(Precision::kBFloat16, kCpu);
  EXPECT_EQ(at::mm(at::ones({64, 1024}), at::ones({1024, 64})).min().item<float>(), 1024);  // 256 if summed in bfloat16
}

}  // namespace
}  // namespace protocom
