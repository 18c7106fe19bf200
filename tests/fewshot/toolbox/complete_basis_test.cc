#include "fewshot/toolbox/detail/complete_basis.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace protocom::testing {
namespace {

at::Tensor orthonormal(int64_t d, int64_t r) {
  at::manual_seed(static_cast<uint64_t>(17 * d + r));
  return std::get<0>(at::linalg_qr(at::randn({d, r}, at::kDouble)));
}

void expect_completes(const at::Tensor& columns) {
  const int64_t d = columns.size(0), r = columns.size(1);
  const at::Tensor basis = complete_basis(columns);
  ASSERT_EQ(basis.sizes(), (std::vector<int64_t>{d, d}));
  EXPECT_LT((at::mm(basis.t(), basis) - at::eye(d, at::kDouble)).abs().max().item<double>(), 1e-13);
  const at::Tensor cosines = (basis.narrow(1, 0, r) * columns).sum(0).abs();
  EXPECT_TRUE(at::allclose(cosines, at::ones_like(cosines), 0, 1e-12)) << "each column is there, up to its sign";
}

TEST(CompleteBasis, BeginsWithTheColumnsAndIsOrthonormal) {
  for (const int64_t r : {1, 2, 24, 63, 64}) expect_completes(orthonormal(64, r));
}

TEST(CompleteBasis, ColumnsThatAreAxesNeedNoReflection) {
  expect_completes(at::eye(5, 3, at::kDouble));
  expect_completes(at::eye(5, at::kDouble).narrow(1, 1, 2));
}

TEST(CompleteBasis, OfNothingIsTheIdentity) {
  EXPECT_TRUE(complete_basis(at::empty({4, 0}, at::kDouble)).equal(at::eye(4, at::kDouble)));
}

}  // namespace
}  // namespace protocom::testing
