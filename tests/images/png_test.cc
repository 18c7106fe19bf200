#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "images/image.h"
#include "support/encoded_images.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Png, IsLossless) {
  const Image image = ramp(13, 29);
  EXPECT_EQ(decode_image(encode_png(image)).rgb, image.rgb);
  PngSpec interlaced;
  interlaced.height = 13;
  interlaced.width = 29;
  interlaced.interlace = PNG_INTERLACE_ADAM7;
  EXPECT_EQ(decode_image(make_png(image.rgb, interlaced)).rgb, image.rgb);
}

// Other readers refuse sixteen bits, or truncate instead of scaling (davisking/dlib issue 728, StbSharp/StbImageSharp
// issue 23).
TEST(Png, SixteenBitsAreScaledToEight) {
  PngSpec spec;
  spec.height = spec.width = 1;
  spec.depth = 16;
  // 65535 -> 255, 32896 = 128 * 257 -> 128, 0 -> 0.
  EXPECT_THAT(pixel(decode_image(make_png({0xFF, 0xFF, 0x80, 0x80, 0, 0}, spec)), 0, 0), ElementsAre(255, 128, 0));
  spec.colour = PNG_COLOR_TYPE_GRAY;
  EXPECT_THAT(pixel(decode_image(make_png({0x40, 0x40}, spec)), 0, 0), ElementsAre(64, 64, 64));
}

TEST(Png, OneBitGreyIsBlackAndWhite) {
  PngSpec spec;
  spec.height = 1;
  spec.width = 2;
  spec.depth = 1;
  spec.colour = PNG_COLOR_TYPE_GRAY;
  const Image image = decode_image(make_png({0x80}, spec));
  EXPECT_THAT(pixel(image, 0, 0), ElementsAre(255, 255, 255));
  EXPECT_THAT(pixel(image, 0, 1), ElementsAre(0, 0, 0));
}

TEST(Png, TransparencyLiesOverWhite) {
  PngSpec spec;
  spec.height = 1;
  spec.width = 3;
  spec.colour = PNG_COLOR_TYPE_RGB_ALPHA;
  const Image image = decode_image(make_png({10, 20, 30, 255, 10, 20, 30, 0, 0, 0, 0, 51}, spec));
  EXPECT_THAT(pixel(image, 0, 0), ElementsAre(10, 20, 30));
  EXPECT_THAT(pixel(image, 0, 1), ElementsAre(255, 255, 255));
  EXPECT_THAT(pixel(image, 0, 2), ElementsAre(204, 204, 204));  // 255 * (1 - 51/255)
}

TEST(Png, PaletteEntriesMayBeTransparent) {
  PngSpec spec;
  spec.height = 1;
  spec.width = 2;
  spec.colour = PNG_COLOR_TYPE_PALETTE;
  spec.palette = {{1, 2, 3}, {4, 5, 6}};
  spec.palette_alpha = {0};
  const Image image = decode_image(make_png({0, 1}, spec));
  EXPECT_THAT(pixel(image, 0, 0), ElementsAre(255, 255, 255));
  EXPECT_THAT(pixel(image, 0, 1), ElementsAre(4, 5, 6));
}

// Grey with alpha was read as all black (davisking/dlib issue 428).
TEST(Png, GreyWithAlphaIsUnderstood) {
  PngSpec spec;
  spec.height = spec.width = 1;
  spec.colour = PNG_COLOR_TYPE_GRAY_ALPHA;
  EXPECT_THAT(pixel(decode_image(make_png({0, 102}, spec)), 0, 0), ElementsAre(153, 153, 153));
}

TEST(Png, ATruncatedOrChangedFileIsRefused) {
  const std::string whole = encode_png(ramp(32, 32));
  EXPECT_EQ(decode_error(whole.substr(0, whole.size() / 2)), "truncated PNG");
  EXPECT_EQ(decode_error(whole.substr(0, 20)), "truncated PNG");
  std::string changed = whole;
  changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 0x55);
  EXPECT_THAT(decode_error(changed), HasSubstr("damaged PNG"));
}

}  // namespace
}  // namespace protocom::testing
