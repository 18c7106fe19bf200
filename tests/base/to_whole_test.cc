#include "base/to_whole.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace protocom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ToWhole, CutsTheFractionOff) {
  EXPECT_EQ(to_whole<int64_t>(2.9), 2);
  EXPECT_EQ(to_whole<int64_t>(-2.9), -2);
  EXPECT_EQ(to_whole<int>(-0.5), 0);
  EXPECT_EQ(to_whole<size_t>(7.0), 7U);
}

TEST(ToWhole, KeepsTheLargestNumbersThatBothTypesHave) {
  EXPECT_EQ(to_whole<int>(2147483647.0), 2147483647);
  EXPECT_EQ(to_whole<int>(-2147483648.0), std::numeric_limits<int>::min());
  EXPECT_EQ(to_whole<int64_t>(std::nextafter(std::ldexp(1, 63), 0)), 9223372036854774784);
}

TEST(ToWhole, TakesTheEndOfTheRangeForWhatIsBeyondIt) {
  EXPECT_EQ(to_whole<int64_t>(1e300), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(to_whole<int64_t>(-kInfinity), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(to_whole<int64_t>(std::ldexp(1, 63)), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(to_whole<int>(kInfinity), std::numeric_limits<int>::max());
  EXPECT_EQ(to_whole<size_t>(-1.0), 0U);
}

TEST(ToWhole, RefusesWhatIsNoNumber) { EXPECT_THROW((void)to_whole<int64_t>(std::nan("")), Error); }

}  // namespace
}  // namespace protocom
