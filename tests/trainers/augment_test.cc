#include "training/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace protocom {
namespace {

Image vary(const Image& image, const AugmentOptions& options, Rng& rng) {
  return augment(image, draw_augmentation(options, image.width, rng));
}

/// Returns an image whose values all differ from their neighbours, none of them black.
Image sample_image(int64_t height, int64_t width) {
  Image image{height, width, std::vector<uint8_t>(static_cast<size_t>(height * width * 3))};
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<uint8_t>(1 + i * 7 % 255);
  return image;
}

TEST(Augment, FlipsLeftAndRight) {
  Image image{1, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  flip_horizontally(image);
  EXPECT_EQ(image.rgb, (std::vector<uint8_t>{7, 8, 9, 4, 5, 6, 1, 2, 3}));
}

TEST(Augment, FlippedTwiceIsTheSameImage) {
  const Image original = sample_image(5, 8);
  Image image = original;
  flip_horizontally(image);
  EXPECT_NE(image.rgb, original.rgb);
  flip_horizontally(image);
  EXPECT_EQ(image.rgb, original.rgb);
}

TEST(Augment, ShiftedImagesAreBlackWhereTheyCameFromOutside) {
  const Image image{2, 2, {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}};
  EXPECT_EQ(shift(image, 1, 0).rgb, (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(shift(image, 0, -1).rgb, (std::vector<uint8_t>{2, 2, 2, 0, 0, 0, 4, 4, 4, 0, 0, 0}));
  EXPECT_EQ(shift(image, -1, 1).rgb, (std::vector<uint8_t>{0, 0, 0, 3, 3, 3, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(shift(image, 5, 0).rgb, std::vector<uint8_t>(12, 0));
  EXPECT_EQ(shift(image, 0, 5).rgb, std::vector<uint8_t>(12, 0));
  EXPECT_EQ(shift(image, 0, 0).rgb, image.rgb);
}

TEST(Augment, RandomCropsReachEveryOffsetWithinThePaddingAndNoOther) {
  AugmentOptions options;
  options.crop_padding = 2.0 / 8;  // two pixels of eight
  options.colour_jitter = 0;
  options.flip_probability = 0;
  const Image image = sample_image(8, 8);
  std::set<std::vector<uint8_t>> allowed, seen;
  for (int64_t down = -2; down <= 2; ++down) {
    for (int64_t right = -2; right <= 2; ++right) allowed.insert(shift(image, down, right).rgb);
  }
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) seen.insert(vary(image, options, rng).rgb);
  EXPECT_EQ(seen, allowed);
}

TEST(Augment, WithoutCropJitterAndFlipIsTheIdentity) {
  Rng rng(1);
  const Image image = sample_image(6, 6);
  EXPECT_EQ(vary(image, {0, 0, 0}, rng).rgb, image.rgb);
}

TEST(Augment, ColourFactorsOfOneChangeNothing) {
  Image image = sample_image(6, 6);
  change_colours(image, {});
  EXPECT_EQ(image.rgb, sample_image(6, 6).rgb);
}

TEST(Augment, BrightnessMultipliesAndClamps) {
  Image image{1, 1, {10, 100, 200}};
  change_colours(image, {1.5, 1, 1});
  EXPECT_EQ(image.rgb, (std::vector<uint8_t>{15, 150, 255}));
}

TEST(Augment, WithoutContrastEveryPixelIsTheMeanGrey) {
  Image image{1, 2, {0, 0, 0, 100, 100, 100}};
  change_colours(image, {1, 0, 1});
  EXPECT_EQ(image.rgb, std::vector<uint8_t>(6, 50));
}

TEST(Augment, WithoutSaturationAPixelIsItsGreyByItu601) {
  Image image{1, 1, {200, 100, 50}};  // 0.299 * 200 + 0.587 * 100 + 0.114 * 50 = 124.2
  change_colours(image, {1, 1, 0});
  EXPECT_EQ(image.rgb, (std::vector<uint8_t>{124, 124, 124}));
}

TEST(Augment, TurnsCounterClockwise) {
  const Image image{2, 2, {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}};  // 1 2 / 3 4
  EXPECT_EQ(rotate_quarters(image, 0).rgb, image.rgb);
  EXPECT_EQ(rotate_quarters(image, 1).rgb, (std::vector<uint8_t>{2, 2, 2, 4, 4, 4, 1, 1, 1, 3, 3, 3}));
  EXPECT_EQ(rotate_quarters(image, 2).rgb, (std::vector<uint8_t>{4, 4, 4, 3, 3, 3, 2, 2, 2, 1, 1, 1}));
  EXPECT_EQ(rotate_quarters(image, 3).rgb, (std::vector<uint8_t>{3, 3, 3, 1, 1, 1, 4, 4, 4, 2, 2, 2}));
}

TEST(Augment, RefusesToTurnAnImageThatIsNotSquare) { EXPECT_THROW(rotate_quarters(sample_image(2, 3), 1), Error); }

TEST(Augment, IsTheSameForTheSameSeed) {
  Rng first(7), second(7), other(8);
  const Image image = sample_image(16, 16);
  const auto one = vary(image, {}, first).rgb;
  EXPECT_EQ(one, vary(image, {}, second).rgb);
  EXPECT_NE(one, vary(image, {}, other).rgb);
}

}  // namespace
}  // namespace protocom
