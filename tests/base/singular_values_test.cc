#include "base/singular_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"

namespace protocom {
namespace {

DoubleMatrix example(int64_t rows, int64_t columns) {
  DoubleMatrix made(rows, columns);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) made(i, j) = std::sin(1.3 * static_cast<double>(i * columns + j * j + 1));
  }
  return made;
}

TEST(SingularValues, MakeUpTheMatrixWhateverItsShape) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{4, 7}, {7, 4}, {5, 5}, {1, 3}, {3, 1}}) {
    const DoubleMatrix matrix = example(rows, columns);
    const SingularValues found = singular_values(matrix);
    const int64_t r = std::min(rows, columns);
    ASSERT_EQ(found.values.size(), r);
    ASSERT_EQ(found.left_rows.cols(), rows);
    ASSERT_EQ(found.right_rows.cols(), columns);
    const DoubleMatrix made = found.left_rows.transpose() * found.values.asDiagonal() * found.right_rows;
    EXPECT_LT((made - matrix).cwiseAbs().maxCoeff(), 1e-12) << rows << " x " << columns;
    const DoubleMatrix unit = DoubleMatrix::Identity(r, r);
    EXPECT_LT((found.left_rows * found.left_rows.transpose() - unit).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((found.right_rows * found.right_rows.transpose() - unit).cwiseAbs().maxCoeff(), 1e-12);
    for (int64_t i = 1; i < r; ++i) EXPECT_GE(found.values[i - 1], found.values[i]);
  }
}

TEST(SingularValues, OfADiagonalAreItsNumbers) {
  DoubleMatrix matrix = DoubleMatrix::Zero(3, 2);
  matrix(0, 0) = 2;
  matrix(1, 1) = -5;
  const SingularValues found = singular_values(matrix);
  EXPECT_DOUBLE_EQ(found.values[0], 5);
  EXPECT_DOUBLE_EQ(found.values[1], 2);
}

TEST(SingularValues, OfNothingAreNoneAndOfNumbersThatAreNotFiniteAreRefused) {
  EXPECT_EQ(singular_values(DoubleMatrix(0, 4)).values.size(), 0);
  DoubleMatrix matrix = example(2, 2);
  matrix(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(singular_values(matrix), Error);
}

}  // namespace
}  // namespace protocom
