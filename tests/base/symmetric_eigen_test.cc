#include "base/symmetric_eigen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"

namespace protocom {
namespace {

TEST(EigenRows, AreThoseOfAMatrixOfTwo) {
  const EigenRows found = eigen_rows((DoubleMatrix(2, 2) << 2, 1, 1, 2).finished());
  EXPECT_NEAR(found.values[0], 1, 1e-14);
  EXPECT_NEAR(found.values[1], 3, 1e-14);
  EXPECT_NEAR(found.vectors(0, 0), -found.vectors(0, 1), 1e-14);
  EXPECT_NEAR(found.vectors(1, 0), found.vectors(1, 1), 1e-14);
}

TEST(EigenRows, AreOrthonormalAndGiveTheMatrixBack) {
  std::mt19937 draw(1);
  std::normal_distribution<double> number;
  const DoubleMatrix half = DoubleMatrix::NullaryExpr(60, 60, [&] { return number(draw); });
  const DoubleMatrix matrix = half + half.transpose();
  const EigenRows found = eigen_rows(matrix);
  const DoubleMatrix back = found.vectors.transpose() * found.values.asDiagonal() * found.vectors;
  EXPECT_LT((back - matrix).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((found.vectors * found.vectors.transpose() - DoubleMatrix::Identity(60, 60)).cwiseAbs().maxCoeff(), 1e-12);
  for (int64_t i = 1; i < 60; ++i) EXPECT_LE(found.values[i - 1], found.values[i]);
}

TEST(EigenRows, OfNumbersThatAreNotFiniteAreRefused) {
  EXPECT_THROW(eigen_rows(DoubleMatrix::Constant(3, 3, std::numeric_limits<double>::quiet_NaN())), Error);
}

TEST(LeadingAxes, AreThoseOfTheLargestSingularValuesOfFewAndOfManyRows) {
  for (const int64_t more_rows : {0, 4}) {
    DoubleMatrix x = DoubleMatrix::Zero(3 + more_rows, 7 - more_rows);
    x(0, 0) = 3;
    x(1, 1) = 1;
    x(2, 2) = -2;
    const DoubleMatrix axes = leading_axes(x, 2);
    ASSERT_EQ(axes.rows(), 2);
    DoubleMatrix expected = DoubleMatrix::Zero(2, x.cols());
    expected(0, 2) = expected(1, 0) = 1;
    EXPECT_LT((axes.cwiseAbs() - expected).cwiseAbs().maxCoeff(), 1e-14);
  }
}

}  // namespace
}  // namespace protocom
