#include "fewshot/toolbox/detail/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "base/error.h"

namespace protocom {
namespace {

double gain_of(const DoubleMatrix& gain, const std::vector<int64_t>& columns) {
  double sum = 0;
  for (int64_t row = 0; row < gain.rows(); ++row) sum += gain(row, columns[row]);
  return sum;
}

/// Returns the best gain of all assignments of different columns to rows.
double best_gain(const DoubleMatrix& gain) {
  std::vector<int64_t> columns(gain.cols());
  std::iota(columns.begin(), columns.end(), 0);
  double best = gain_of(gain, columns);
  while (std::next_permutation(columns.begin(), columns.end())) best = std::max(best, gain_of(gain, columns));
  return best;
}

TEST(BestAssignment, IsTheBestOfAllAndGivesNoColumnTwice) {
  std::mt19937 draw(31);
  std::normal_distribution<double> number;
  for (int64_t trial = 0; trial < 40; ++trial) {
    const int64_t rows = 1 + trial % 5;
    const DoubleMatrix gain = DoubleMatrix::NullaryExpr(rows, rows + trial % 3, [&] { return number(draw); });
    std::vector<int64_t> found = best_assignment(gain);
    ASSERT_EQ(static_cast<int64_t>(found.size()), rows);
    EXPECT_NEAR(gain_of(gain, found), best_gain(gain), 1e-12) << gain;
    std::sort(found.begin(), found.end());
    EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end());
    EXPECT_TRUE(found.front() >= 0 && found.back() < gain.cols());
  }
}

TEST(BestAssignment, LeavesARowItsBestColumnOnlyWhereTheOthersLoseLess) {
  // Both rows prefer column 0; the second loses more without it.
  EXPECT_EQ(best_assignment((DoubleMatrix(2, 2) << 0.9, 0.8, 0.9, 0.1).finished()), (std::vector<int64_t>{1, 0}));
}

TEST(BestAssignment, RefusesMoreRowsThanColumns) {
  EXPECT_THROW(static_cast<void>(best_assignment(DoubleMatrix::Zero(3, 2))), Error);
}

}  // namespace
}  // namespace protocom
