#include "recognizer/detail/best_classes.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BestClasses, AreTheGreatestInOrderOfEqualOnesTheLowerNumberFirst) {
  const at::Tensor row = at::tensor({1.0F, 3.0F, 2.0F, 3.0F, 0.0F, 2.0F});
  EXPECT_THAT(best_classes(row, 3), ElementsAre(1, 3, 2));
  EXPECT_THAT(best_classes(row.to(at::kDouble), 4), ElementsAre(1, 3, 2, 5));
  EXPECT_THAT(best_classes(row, 100), ElementsAre(1, 3, 2, 5, 0, 4));
  EXPECT_THAT(best_classes(row, 0), IsEmpty());
}

TEST(BestClasses, AreThoseOfASort) {
  at::manual_seed(5);
  for (const int64_t size : {1, 7, 500}) {
    const at::Tensor row = (at::rand({size}) * 40).round();  // with equal ones
    const at::Tensor sorted = std::get<1>(row.sort(/*stable=*/true, /*dim=*/0, /*descending=*/true));
    const std::vector<int64_t> best = best_classes(row, 20);
    ASSERT_EQ(best.size(), static_cast<size_t>(std::min<int64_t>(size, 20)));
    for (size_t i = 0; i < best.size(); ++i) EXPECT_EQ(best[i], sorted[static_cast<int64_t>(i)].item<int64_t>());
  }
}

}  // namespace
}  // namespace protocom::testing
