#include "base/evenly.h"

#include <gtest/gtest.h>

namespace protocom {
namespace {

using Numbers = std::vector<int64_t>;

TEST(Evenly, TakesTheFirstOfEachOfEquallyLongPieces) {
  EXPECT_EQ(evenly(10, 4), (Numbers{0, 2, 5, 7}));
  EXPECT_EQ(evenly(10, 1), Numbers{0});
}

TEST(Evenly, TakesAllWhereTheyAreNoMore) {
  EXPECT_EQ(evenly(3, 3), (Numbers{0, 1, 2}));
  EXPECT_EQ(evenly(3, 5), (Numbers{0, 1, 2}));
}

TEST(Evenly, TakesNoneOfNoneAndNoneWhereNoneAreWanted) {
  EXPECT_EQ(evenly(0, 5), Numbers{});
  EXPECT_EQ(evenly(5, 0), Numbers{});
}

}  // namespace
}  // namespace protocom
