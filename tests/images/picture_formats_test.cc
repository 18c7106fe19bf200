#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "images/detail/heif_decoders.h"
#include "images/image.h"
#include "io/files.h"
#include "support/message_of.h"
#include "support/most_memory.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Written by Pillow 9.4 and 13.0, heif-enc 1.15 and cjxl 0.7.
fs::path picture(const std::string& name) { return fs::path(PROTOCOM_GOLDEN).parent_path() / "pictures" / name; }

/// Expects 48 x 32 pixels: red and green over blue and white; `tolerance` allows for lossy compression.
void expect_quarters(const Image& image, int tolerance) {
  ASSERT_EQ(image.width, 48);
  ASSERT_EQ(image.height, 32);
  const uint8_t expected[2][2][3] = {{{255, 0, 0}, {0, 255, 0}}, {{0, 0, 255}, {255, 255, 255}}};
  for (const int64_t y : {5, 26}) {
    for (const int64_t x : {5, 42}) {
      for (int64_t c = 0; c < 3; ++c) {
        const int found = image.rgb[static_cast<size_t>(3 * (y * 48 + x) + c)];
        EXPECT_NEAR(found, expected[y > 16][x > 24][c], tolerance) << x << ", " << y << ", channel " << c;
      }
    }
  }
}

// A training aborts at the first HEIC among a phone's photos (replicate/dreambooth issue 23).
// Reported in public: mysociety/fixmystreet issue 2871, monicahq/monica issue 4914.
TEST(PictureFormats, HeicAndAvifAreReadAsPhonesWriteThem) {
  for (const char* name : {"quarters.heic", "quarters.avif"}) {
    SCOPED_TRACE(name);
    expect_quarters(read_image(picture(name)), 12);
  }
}

// Android's cameras write such files, and others whose first brand is not that of a codec.
TEST(PictureFormats, AHeicWhoseFirstBrandNamesNoCodecIsRead) {
  for (const char* name : {"quarters.heic", "quarters.avif"}) {
    for (const char* brand : {"mif1", "mif2", "miaf"}) {
      SCOPED_TRACE(std::string(name) + ' ' + brand);
      expect_quarters(decode_image(read_file(picture(name)).replace(8, 4, brand)), 12);
    }
  }
}

TEST(PictureFormats, TiffIsReadCompressedAndTurned) {
  for (const char* name : {"quarters-deflate.tif", "quarters-lzw.tif", "quarters-turned.tif", "quarters-bigtiff.tif"}) {
    SCOPED_TRACE(name);
    expect_quarters(read_image(picture(name)), 0);
  }
}

TEST(PictureFormats, TheFirstFrameOfAGifIsRead) { expect_quarters(read_image(picture("quarters-then-black.gif")), 0); }

// An animated WebP from a chat is common among photos (python-pillow/Pillow issue 3077 requests its frames).
TEST(PictureFormats, TheFirstFrameOfAnAnimatedWebpIsRead) {
  expect_quarters(read_image(picture("quarters-then-black.webp")), 0);
  const std::string bytes = read_file(picture("quarters-then-black.webp"));
  EXPECT_THAT(message_of([&] { decode_image(bytes.substr(0, 60)); }), HasSubstr("WebP"));
}

TEST(PictureFormats, TheFirstImageOfAnMpoIsRead) {
  expect_quarters(read_image(picture("quarters-then-black.mpo")), 12);
}

TEST(PictureFormats, Jpeg2000IsReadWithAndWithoutItsBoxes) {
  expect_quarters(read_image(picture("quarters.jp2")), 0);
  expect_quarters(read_image(picture("quarters.j2k")), 0);
  const Image grey = read_image(picture("grey.jp2"));  // the red channel of the quarters
  EXPECT_EQ(grey.rgb.front(), 255);
  EXPECT_EQ(grey.rgb[3 * 47], 0);
}

// Reported in public: ente/photos-desktop issue 193, nextcloud/photos issue 2644.
TEST(PictureFormats, JpegXlIsReadAndItsClearPlacesAreWhite) {
  expect_quarters(read_image(picture("quarters.jxl")), 0);
  const Image image = read_image(picture("clear-quarter.jxl"));
  EXPECT_EQ(image.rgb[0] + image.rgb[1] + image.rgb[2], 3 * 255);
  EXPECT_EQ(image.rgb[3 * 47 + 1], 255);
  EXPECT_EQ(image.rgb[3 * 47], 0);
}

TEST(PictureFormats, ADamagedJpeg2000OrJpegXlIsAnErrorWhereverItIsDamaged) {
  for (const char* name :
       {"quarters.jp2", "quarters.j2k", "quarters.jxl", "clear-quarter.jxl", "quarters-then-black.webp"}) {
    const std::string whole = read_file(picture(name));
    for (size_t i = 0; i < whole.size(); i += 5) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 0xff);
      DecodeOptions options;
      options.max_pixels = 1 << 20;
      EXPECT_FALSE(message_of([&] { decode_image(changed, options); }).empty());  // an image or an Error
    }
    EXPECT_THROW(decode_image(whole.substr(0, whole.size() / 2)), Error) << name;
  }
}

TEST(PictureFormats, ClearPlacesOfAGifAreWhite) {
  const Image image = read_image(picture("red-over-clear.gif"));
  ASSERT_EQ(image.rgb.size(), 24u);
  for (size_t x = 0; x < 4; ++x) {
    EXPECT_EQ(image.rgb[3 * x], 255);
    EXPECT_EQ(image.rgb[3 * x + 1], 0);
    EXPECT_EQ(image.rgb[12 + 3 * x + 1], 255);
  }
}

TEST(PictureFormats, ATruncatedFileIsRefusedWithItsFormat) {
  for (const auto& [name, word] : {std::pair{"quarters.heic", "HEIC"},
                                   {"quarters.avif", "AVIF"},
                                   {"quarters-lzw.tif", "TIFF"},
                                   {"quarters-then-black.gif", "GIF"}}) {
    const std::string bytes = read_file(picture(name));
    // The GIF's first frame, the only one read, is in its first fifth.
    for (const double share : {0.03, std::string(word) == "GIF" ? 0.05 : 0.6}) {
      const std::string cut = bytes.substr(0, static_cast<size_t>(share * static_cast<double>(bytes.size())));
      EXPECT_THAT(message_of([&, text = cut] { decode_image(text); }), HasSubstr(word)) << name << ' ' << share;
    }
  }
}

TEST(PictureFormats, AnImageThatSaysItIsLargerThanAllowedIsRefused) {
  DecodeOptions few;
  few.max_pixels = 48 * 32 - 1;
  for (const char* name : {"quarters.heic", "quarters-lzw.tif", "quarters-then-black.gif"})
    EXPECT_THROW(decode_image(read_file(picture(name)), few), Error) << name;
}

TEST(PictureFormats, AHeicOrAvifThatCodesMoreThanItSaysIsRefusedBeforeItTakesMemory) {
  DecodeOptions few;
  few.max_pixels = 1 << 20;
  for (const char* name : {"says-48-is-4096.heic", "says-48-is-4096.avif"}) {
    SCOPED_TRACE(name);
    const std::string bytes = read_file(picture(name));
    std::string message;
    const int64_t memory = most_memory_of([&] { message = message_of([&] { decode_image(bytes, few); }); });
    EXPECT_THAT(message, HasSubstr("its images are larger than declared"));
    EXPECT_LT(memory, int64_t{4096} * 4096);  // one byte per pixel: brightness alone takes as much
    EXPECT_EQ(decode_image(bytes).width, 4096);
  }
}

// The tiles are quarters.avif, the boxes around them are written by hand.
TEST(PictureFormats, TilesArePutTogetherOnNoMoreThanTheImageSays) {
  const Image four = read_image(picture("four-tiles.avif"));
  EXPECT_EQ(four.width, 96);
  EXPECT_EQ(four.height, 64);
  const std::string bytes = read_file(picture("says-48-is-6000-of-tiles.avif"));
  std::string message;
  const int64_t memory = most_memory_of([&] { message = message_of([&] { decode_image(bytes); }); });
  EXPECT_THAT(message, HasSubstr("6000"));
  EXPECT_LT(memory, int64_t{6000} * 6000);
}

TEST(CodedPixels, AreTakenFromABudgetASmallPictureAsALargerOne) {
  EXPECT_FALSE(codec::CodedPixels::limited());
  {
    const codec::CodedPixels budget(1 << 20);
    EXPECT_TRUE(codec::CodedPixels::limited());
    EXPECT_TRUE(codec::CodedPixels::take(512, 512));
    for (int tile = 0; tile < 12; ++tile) EXPECT_TRUE(codec::CodedPixels::take(1, 1)) << tile;
    EXPECT_FALSE(budget.exceeded());
    EXPECT_FALSE(codec::CodedPixels::take(1, 1)) << "one tile may be there ten thousand times";
    EXPECT_TRUE(budget.exceeded());
  }
  EXPECT_FALSE(codec::CodedPixels::take(1, 1));
}

TEST(PictureFormats, ImagesThatShareABudgetOfPixelsAreRefusedWhenItIsSpent) {
  for (const char* name : {"quarters.heic", "quarters.avif", "quarters-lzw.tif", "quarters-then-black.gif"}) {
    const std::string bytes = read_file(picture(name));
    int64_t left = 48 * 32 + (1 << 20);  // what a HEIC codes in addition to what it shows counts too
    DecodeOptions options;
    options.pixels_left = &left;
    EXPECT_EQ(decode_image(bytes, options).width, 48) << name;
    EXPECT_LE(left, 1 << 20) << name;
    left = 48 * 32 - 1;
    EXPECT_THAT(message_of([&] { decode_image(bytes, options); }), HasSubstr("more than the limit for all images"))
        << name;
    EXPECT_LT(left, 0) << name;
  }
}

// 186 bytes that announce 8000 x 8000 pixels of four channels of two bytes, in one strip.
TEST(PictureFormats, ATiffTakesNoMoreMemoryForItsStripsThanForItsPixels) {
  const std::string bytes = read_file(picture("says-8000-in-a-strip.tif"));
  std::string message;
  const int64_t memory = most_memory_of([&] { message = message_of([&] { decode_image(bytes); }); });
  EXPECT_THAT(message, HasSubstr("damaged TIFF"));
  EXPECT_LT(memory, int64_t{8000} * 8000 * (4 + 1));  // four bytes per pixel are ours
}

// The video of a live photo is called .HEIC after it moves from one library to another (simulot/immich-go issue 67).
TEST(PictureFormats, AVideoIsNamedAsOne) {
  EXPECT_THAT(message_of([] {
                decode_image(
                    std::string("\0\0\0\x18"
                                "ftypmp42\0\0\0\0mp42isom",
                                24));
              }),
              HasSubstr("a video"));
}

}  // namespace
}  // namespace protocom::testing
