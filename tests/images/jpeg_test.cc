#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "images/image.h"
#include "support/encoded_images.h"
#include "support/grey_jpeg.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string decode_error_of(const std::string& bytes, const DecodeOptions& options) {
  return message_of([&] { decode_image(bytes, options); });
}

TEST(Jpeg, ComesBackNearlyAsItWasEncoded) {
  const Image image = ramp(40, 56);
  EXPECT_LT(mean_difference(decode_image(encode_jpeg(image, 95)), image), 2.0);
}

TEST(Jpeg, GreyBecomesThreeEqualChannels) {
  JpegSpec spec;
  spec.height = spec.width = 8;
  spec.components = 1;
  spec.input = spec.stored = JCS_GRAYSCALE;
  const Image image = decode_image(make_jpeg(std::vector<uint8_t>(64, 100), spec));
  EXPECT_THAT(pixel(image, 3, 3), ElementsAre(100, 100, 100));
}

TEST(Jpeg, PlainCmykInksTakeLightAway) {
  // C 255, M 0, Y 0, K 0 leaves no red; half black (K 128) leaves (255-128) of the rest.
  JpegSpec spec;
  spec.height = spec.width = 8;
  spec.components = 4;
  spec.input = spec.stored = JCS_CMYK;
  std::vector<uint8_t> inks;
  for (int i = 0; i < 64; ++i) inks.insert(inks.end(), {255, 0, 0, 128});
  const Pixel colour = pixel(decode_image(make_jpeg(inks, spec)), 4, 4);
  EXPECT_NEAR(colour[0], 0, 2);
  EXPECT_NEAR(colour[1], 127, 2);
  EXPECT_NEAR(colour[2], 127, 2);
}

// Photoshop's CMYK is read inverted if its marker is ignored (haraldk/TwelveMonkeys issue 147).
// Reported in public: libvips/libvips issue 1283.
TEST(Jpeg, AdobeInksAreInverted) {
  for (const J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    JpegSpec spec;
    spec.height = spec.width = 8;
    spec.components = 4;
    spec.input = JCS_CMYK;
    spec.stored = stored;
    spec.adobe = true;
    std::vector<uint8_t> light;
    for (int i = 0; i < 64; ++i) light.insert(light.end(), {200, 100, 50, 255});
    const Pixel colour = pixel(decode_image(make_jpeg(light, spec)), 4, 4);
    EXPECT_NEAR(colour[0], 200, 3);
    EXPECT_NEAR(colour[1], 100, 3);
    EXPECT_NEAR(colour[2], 50, 3);
  }
}

// Reported in public: nothings/stb issue 916, bumptech/glide issue 1120.
TEST(Jpeg, EveryExifOrientationComesOutUpright) {
  // The upright picture: red top left, green top right, blue bottom left, white bottom right; twice as wide as high.
  const int64_t height = 32;
  const int64_t width = 64;
  const Image upright = painted(height, width, [&](int64_t y, int64_t x) {
    if (y < height / 2) return x < width / 2 ? Pixel{255, 0, 0} : Pixel{0, 255, 0};
    return x < width / 2 ? Pixel{0, 0, 255} : Pixel{255, 255, 255};
  });
  // What EXIF 2.32 defines for the stored first row and first column, as the upright pixel shown by the stored one at
  // (row r, column c).
  using Place = std::function<Pixel(int64_t, int64_t)>;
  const std::vector<Place> shows = {
      [&](int64_t r, int64_t c) { return pixel(upright, r, c); },              // 1: row = top, column = left
      [&](int64_t r, int64_t c) { return pixel(upright, r, width - 1 - c); },  // 2: top, right
      [&](int64_t r, int64_t c) { return pixel(upright, height - 1 - r, width - 1 - c); },  // 3: bottom, right
      [&](int64_t r, int64_t c) { return pixel(upright, height - 1 - r, c); },              // 4: bottom, left
      [&](int64_t r, int64_t c) { return pixel(upright, c, r); },                           // 5: left, top
      [&](int64_t r, int64_t c) { return pixel(upright, c, width - 1 - r); },               // 6: right, top
      [&](int64_t r, int64_t c) { return pixel(upright, height - 1 - c, width - 1 - r); },  // 7: right, bottom
      [&](int64_t r, int64_t c) { return pixel(upright, height - 1 - c, r); },              // 8: left, bottom
  };
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const bool turned = orientation >= 5;
    const Image stored =
        painted(turned ? width : height, turned ? height : width, shows[static_cast<size_t>(orientation - 1)]);
    for (const std::string byte_order : {"II", "MM"}) {
      const std::string exif = make_exif(orientation, byte_order);
      SCOPED_TRACE(byte_order + " orientation " + std::to_string(orientation));
      EXPECT_LT(mean_difference(decode_image(make_rgb_jpeg(stored, std::string("Exif\0\0", 6) + exif)), upright), 4.0);
      PngSpec png;
      png.height = static_cast<uint32_t>(stored.height);
      png.width = static_cast<uint32_t>(stored.width);
      png.exif = exif;
      EXPECT_EQ(decode_image(make_png(stored.rgb, png)).rgb, upright.rgb);
    }
  }
}

TEST(Jpeg, NonsenseInExifIsIgnored) {
  const Image image = ramp(16, 24);
  for (const std::string& exif : {std::string("Exif\0\0garbage", 13), std::string("Exif\0\0", 6) + make_exif(9, "II"),
                                  std::string("Exif\0\0", 6) + make_exif(0, "MM"), std::string("Exif")}) {
    EXPECT_EQ(decode_image(make_rgb_jpeg(image, exif)).width, 24);
  }
}

// Reported in public: libvips/libvips issue 2309.
TEST(Jpeg, ATruncatedFileIsRefusedWhereverItIsCut) {
  const Image image = ramp(64, 64);
  JpegSpec progressive;
  progressive.height = progressive.width = 64;
  progressive.progressive = true;
  for (const std::string& whole : {make_rgb_jpeg(image), make_jpeg(image.rgb, progressive)}) {
    for (const double part : {0.3, 0.6, 0.9, 0.99}) {
      const std::string cut = whole.substr(0, static_cast<size_t>(part * static_cast<double>(whole.size())));
      EXPECT_THAT(decode_error(cut), HasSubstr("truncated JPEG")) << part;
    }
  }
}

// Many programs read such a file (python-pillow/Pillow issue 1510, "image file is truncated (2 bytes not processed)").
// Reported in public: wkentaro/labelme issue 335.
TEST(Jpeg, ThatLacksOnlyItsEndMarkIsRead) {
  const Image image = ramp(64, 64);
  JpegSpec progressive;
  progressive.height = progressive.width = 64;
  progressive.progressive = true;
  for (const std::string& whole : {make_rgb_jpeg(image), make_jpeg(image.rgb, progressive)}) {
    for (const size_t missing : {1, 2})
      EXPECT_EQ(decode_image(whole.substr(0, whole.size() - missing)).rgb, decode_image(whole).rgb) << missing;
  }
}

// Reported in public: python-pillow/Pillow issue 2717.
TEST(Jpeg, AProgressiveFileThatEndsBetweenTwoScansIsTruncated) {
  JpegSpec spec;
  spec.height = spec.width = 64;
  spec.progressive = true;
  const std::string whole = make_jpeg(ramp(64, 64).rgb, spec);
  const size_t last = whole.rfind("\xff\xda");  // start of the last scan
  const size_t tables = whole.rfind("\xff\xc4", last);
  for (const size_t end : {last, tables}) EXPECT_THAT(decode_error(whole.substr(0, end)), HasSubstr("truncated JPEG"));
}

TEST(Jpeg, IsLimitedByThePixelsThatAreDecoded) {
  const std::string bytes = make_rgb_jpeg(ramp(400, 600));
  DecodeOptions options;
  options.max_pixels = 60'000;
  EXPECT_THAT(decode_error_of(bytes, options), HasSubstr("600 x 400 pixels: expected at most"));
  options.min_side = 200;
  EXPECT_EQ(decode_image(bytes, options).height, 200);
  options.max_pixels = 59'999;  // four times that is less than 600 x 400
  EXPECT_THAT(decode_error_of(bytes, options), HasSubstr("read at reduced size"));
}

TEST(Jpeg, OfAPhoneOf50And200MegapixelsIsDecodedByDefault) {
  for (const auto& [width, height] : {std::pair{8160, 6144}, {16320, 12240}}) {
    const Image square = decode_square_image(grey_jpeg(width, height, 100), {64});
    EXPECT_EQ(square.height, 64);
    EXPECT_EQ(*std::min_element(square.rgb.begin(), square.rgb.end()), 100) << "to its last row";
    EXPECT_EQ(*std::max_element(square.rgb.begin(), square.rgb.end()), 100);
  }
}

TEST(Jpeg, PassedAtReducedSizeCountsAQuarterInABudget) {
  int64_t left = 60'000;
  DecodeOptions options;
  options.min_side = 50;
  options.pixels_left = &left;
  const std::string bytes = make_rgb_jpeg(ramp(400, 600));
  EXPECT_EQ(decode_image(bytes, options).height, 50);
  EXPECT_EQ(left, 0);
  EXPECT_THAT(decode_error_of(bytes, options), HasSubstr("more than the limit for all images"));
}

TEST(Jpeg, SaysTheSizeOfItsFileUpright) {
  DecodeOptions options;
  options.min_side = 100;
  const std::string bytes = make_rgb_jpeg(ramp(400, 600), std::string("Exif\0\0", 6) + make_exif(6, "II"));
  const auto [image, size] = decode_image_and_size(bytes, options);
  EXPECT_EQ(image.width, 100);
  EXPECT_EQ(size.width, 400);
  EXPECT_EQ(size.height, 600);
}

TEST(LargestImage, IsWhatDecodingAllowsWhereNothingElseIsSaid) {
  const int64_t before = largest_image();
  set_largest_image(99);
  EXPECT_THAT(decode_error(encode_png(ramp(10, 10))), HasSubstr("10 x 10 pixels"));
  set_largest_image(before);
  EXPECT_EQ(decode_error(encode_png(ramp(10, 10))), "(no Error)");
  EXPECT_THROW(set_largest_image(0), UsageError);
}

TEST(Jpeg, DecodesAtAReducedSizeButNotBelowTheWantedSide) {
  const Image image = ramp(400, 600);
  const std::string bytes = make_rgb_jpeg(image);
  const auto height_for = [&](int64_t min_side) {
    DecodeOptions options;
    options.min_side = min_side;
    return decode_image(bytes, options).height;
  };
  EXPECT_EQ(height_for(0), 400);
  EXPECT_EQ(height_for(201), 400);
  EXPECT_EQ(height_for(200), 200);
  EXPECT_EQ(height_for(84), 100);
  EXPECT_EQ(height_for(10), 50);
  EXPECT_LT(mean_difference(decode_square_image(bytes, {84}), resize_and_crop(image, {84})), 1.5);
}

// A scan may be repeated: each costs as much time as the whole image and a few hundred bytes of the file.
TEST(Jpeg, OfMoreScansThanAnyEncoderMakesIsRefused) {
  JpegSpec spec;
  spec.height = spec.width = 64;
  spec.progressive = true;
  const std::string bytes = make_jpeg(ramp(64, 64).rgb, spec);
  // The first scan holds the upper bits of the mean values; unlike a refinement it decodes the same each time.
  const size_t scan = bytes.find("\xff\xda"), after = bytes.find("\xff\xc4", scan);
  ASSERT_LT(scan, after);
  ASSERT_NE(after, std::string::npos);
  std::string long_one = bytes.substr(0, after);
  for (int i = 0; i < 480; ++i) long_one += bytes.substr(scan, after - scan);
  EXPECT_THAT(decode_error(long_one + bytes.substr(after)), HasSubstr("too many scans"));
  EXPECT_EQ(decode_image(bytes).width, 64);
}

}  // namespace
}  // namespace protocom::testing
