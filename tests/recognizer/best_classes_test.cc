#include "recognizer/detail/best_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/rng.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

TEST(BestClasses, AreTheGreatestInOrderOfEqualOnesTheLowerNumberFirst) {
  const std::vector<float> row = {1, 3, 2, 3, 0, 2};
  EXPECT_THAT(best_classes(row.data(), 6, 3), ElementsAre(1, 3, 2));
  EXPECT_THAT(best_classes(row.data(), 6, 4), ElementsAre(1, 3, 2, 5));
  EXPECT_THAT(best_classes(row.data(), 6, 100), ElementsAre(1, 3, 2, 5, 0, 4));
  EXPECT_THAT(best_classes(row.data(), 6, 0), IsEmpty());
}

TEST(BestClasses, AreThoseOfASort) {
  Rng rng(5);
  for (const int64_t size : {1, 7, 500}) {
    std::vector<float> row;
    for (int64_t k = 0; k < size; ++k) row.push_back(static_cast<float>(rng.below(40)));  // with ties
    std::vector<int64_t> sorted(row.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](int64_t a, int64_t b) { return row[static_cast<size_t>(a)] > row[static_cast<size_t>(b)]; });
    sorted.resize(static_cast<size_t>(std::min<int64_t>(size, 20)));
    EXPECT_THAT(best_classes(row.data(), size, 20), ElementsAreArray(sorted));
  }
}

}  // namespace
}  // namespace protocom::testing
