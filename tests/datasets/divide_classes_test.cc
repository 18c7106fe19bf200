#include "datasets/divide_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "support/message_of.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Returns the number of classes of each split.
std::vector<int64_t> sizes_of(const std::vector<Split>& split) {
  std::vector<int64_t> sizes;
  for (const Split side : kAllSplits) sizes.push_back(std::count(split.begin(), split.end(), side));
  return sizes;
}
std::vector<int64_t> sizes_of(int64_t classes, const DivisionOptions& options = {}) {
  return sizes_of(divide_classes(std::vector<int64_t>(static_cast<size_t>(classes), 30), options));
}

TEST(DivideClasses, TakesThePapersSharesAndFiveEachWhereThatLeavesEnough) {
  EXPECT_THAT(sizes_of(100), ElementsAre(64, 16, 20));
  EXPECT_THAT(sizes_of(50), ElementsAre(32, 8, 10));
  EXPECT_THAT(sizes_of(25), ElementsAre(15, 5, 5));
  EXPECT_THAT(sizes_of(18), ElementsAre(10, 3, 5));
  EXPECT_THAT(sizes_of(10), ElementsAre(5, 2, 3));
  EXPECT_THAT(sizes_of(6), ElementsAre(2, 2, 2));
  EXPECT_THAT(sizes_of(4, {1, 1}), ElementsAre(2, 1, 1));
  EXPECT_THAT(sizes_of(18, {4, 6}), ElementsAre(8, 4, 6));
  EXPECT_THAT(sizes_of(18, {0, 6}), ElementsAre(12, 0, 6));
  EXPECT_THAT(sizes_of(18, {0, {}}), ElementsAre(13, 0, 5));
}

TEST(DivideClasses, IsADrawThatItsSeedRepeats) {
  const std::vector<int64_t> images(40, 30);
  EXPECT_EQ(divide_classes(images, {}), divide_classes(images, {}));
  EXPECT_NE(divide_classes(images, {}), divide_classes(images, {{}, {}, 20, 2}));
}

TEST(DivideClasses, ClassesOfFewImagesAreBase) {
  std::vector<int64_t> images(20, 30);
  for (size_t c = 0; c < images.size(); c += 2) images[c] = 19;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Split> split = divide_classes(images, {{}, {}, 20, seed});
    for (size_t c = 0; c < images.size(); c += 2) EXPECT_EQ(split[c], Split::kBase);
    EXPECT_THAT(sizes_of(split), ElementsAre(11, 4, 5));
  }
}

TEST(DivideClasses, SaysWhatIsMissing) {
  const auto message = [](const std::vector<int64_t>& images, const DivisionOptions& options) {
    return testing::message_of([&] { divide_classes(images, options); });
  };
  EXPECT_EQ(message(std::vector<int64_t>(5, 30), {}),
            "5 classes are too few for 2 val, 2 novel and 2 base ones: request fewer val or novel classes");
  EXPECT_THAT(message({30, 30, 30}, {1, 1}), HasSubstr("3 classes are too few for 1 val, 1 novel and 2 base ones"));
  EXPECT_THAT(message({}, {}), HasSubstr("0 classes are too few"));
  EXPECT_THAT(message({30, 30, 30}, {int64_t{1} << 62, int64_t{1} << 62}), HasSubstr("3 classes are too few"));
  EXPECT_EQ(message({30, 30, 2, 30, 2, 2, 2, 2, 2, 2}, {}),
            "2 val and 3 novel classes need 20 images each, which 3 of 10 classes have: request fewer classes (val, "
            "novel) or images (fewest-images)");
  EXPECT_THAT(testing::usage_message_of([] {
                divide_classes({1, 1, 1}, {-1});
              }),
              HasSubstr("expected at least 0, found -1"));
}

}  // namespace
}  // namespace protocom
