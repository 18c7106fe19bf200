#include "fewshot/toolbox/detail/complete_basis.h"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include "base/rng.h"

namespace protocom::testing {
namespace {

DoubleMatrix orthonormal(int64_t d, int64_t r) {
  Rng rng(static_cast<uint64_t>(17 * d + r));
  const DoubleMatrix drawn = DoubleMatrix::NullaryExpr(d, r, [&] { return rng.normal(); });
  return Eigen::HouseholderQR<DoubleMatrix>(drawn).householderQ() * DoubleMatrix::Identity(d, r);
}

DoubleMatrix orthonormal_basis(const DoubleMatrix& columns) {
  const int64_t d = columns.rows();
  DoubleMatrix basis = complete_basis(columns);
  EXPECT_EQ(basis.cols(), d);
  EXPECT_LT((basis.transpose() * basis - DoubleMatrix::Identity(d, d)).cwiseAbs().maxCoeff(), 1e-13);
  return basis;
}

void expect_completes(const DoubleMatrix& columns) {
  const DoubleMatrix basis = orthonormal_basis(columns);
  EXPECT_LT((basis.leftCols(columns.cols()) - columns).cwiseAbs().maxCoeff(), 1e-12) << "each column is there";
}

TEST(CompleteBasis, BeginsWithTheColumnsAndIsOrthonormal) {
  for (const int64_t r : {1, 2, 24, 63, 64}) expect_completes(orthonormal(64, r));
}

TEST(CompleteBasis, ColumnsThatAreAxesNeedNoReflection) {
  expect_completes(DoubleMatrix::Identity(5, 3));
  expect_completes(DoubleMatrix::Identity(5, 5).middleCols(1, 2));
}

TEST(CompleteBasis, HasAnotherDirectionForAColumnThatDependsOnThoseBeforeIt) {
  DoubleMatrix columns = orthonormal(8, 4);
  columns.col(2) = columns.col(0);
  columns.col(3).setZero();
  const DoubleMatrix basis = orthonormal_basis(columns);
  EXPECT_LT((basis.leftCols(2) - columns.leftCols(2)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(CompleteBasis, OfNothingIsTheIdentity) {
  EXPECT_EQ(complete_basis(DoubleMatrix(4, 0)), DoubleMatrix::Identity(4, 4));
}

}  // namespace
}  // namespace protocom::testing
