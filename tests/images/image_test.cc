#include "images/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <webp/encode.h>

#include <algorithm>

#include "base/error.h"
#include "images/skipped_files.h"
#include "io/files.h"
#include "support/encoded_images.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Webp, LosslessAlphaReducedAndTruncated) {
  const Image image = ramp(64, 48);
  const std::string bytes = make_webp(image);
  EXPECT_EQ(decode_image(bytes).rgb, image.rgb);
  DecodeOptions half;
  half.min_side = 24;
  EXPECT_EQ(decode_image(bytes, half).width, 24);
  EXPECT_EQ(decode_error(bytes.substr(0, bytes.size() / 2)), "truncated WebP");

  const std::vector<uint8_t> rgba = {10, 20, 30, 255, 0, 0, 0, 0};
  uint8_t* out = nullptr;
  const size_t size = WebPEncodeLosslessRGBA(rgba.data(), 2, 1, 8, &out);
  const Image over_white = decode_image({reinterpret_cast<char*>(out), size});
  WebPFree(out);
  EXPECT_THAT(pixel(over_white, 0, 0), ElementsAre(10, 20, 30));
  EXPECT_THAT(pixel(over_white, 0, 1), ElementsAre(255, 255, 255));
}

TEST(Webp, ExifTurnsTheImage) {
  const Image image = ramp(20, 40);
  const std::string plain = make_webp(image);
  const std::string exif = make_exif(6, "II");  // the stored first row is the right side
  const auto number = [](size_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>((value >> (8 * i)) & 255));
    return text;
  };
  // The extended container: a header that announces EXIF (flag 8) and the canvas, the picture's own chunk, the EXIF
  // chunk.
  const std::string chunks = "VP8X" + number(10, 4) + number(8, 4) + number(40 - 1, 3) + number(20 - 1, 3) +
                             plain.substr(12) + "EXIF" + number(exif.size(), 4) + exif;
  const Image upright = decode_image("RIFF" + number(4 + chunks.size(), 4) + "WEBP" + chunks);
  ASSERT_EQ(upright.height, 40);
  ASSERT_EQ(upright.width, 20);
  EXPECT_EQ(pixel(upright, 0, 19), pixel(image, 0, 0));
  EXPECT_EQ(pixel(upright, 39, 19), pixel(image, 0, 39));
  EXPECT_EQ(pixel(upright, 0, 0), pixel(image, 19, 0));
}

TEST(Bmp, IsReadAndATruncatedOneIsRefused) {
  const Image image = ramp(9, 7);
  const std::string bytes = make_bmp(image);
  EXPECT_EQ(decode_image(bytes).rgb, image.rgb);
  for (const size_t size : {size_t{10}, size_t{40}, size_t{60}, bytes.size() / 2, bytes.size() - 8}) {
    EXPECT_THAT(decode_error(bytes.substr(0, size)), HasSubstr("BMP")) << size;
  }
  EXPECT_EQ(decode_error(bytes.substr(0, bytes.size() / 2)), "truncated BMP");
}

// BITMAPINFOHEADER: a negative height (at byte 22) means that the rows run from top to bottom.
TEST(Bmp, MayHaveItsTopRowFirst) {
  const Image image = ramp(6, 4);
  Image upside_down = image;
  const auto row = static_cast<std::ptrdiff_t>(image.width * 3);
  for (int64_t y = 0; y < image.height; ++y) {
    std::copy_n(image.rgb.begin() + y * row, row, upside_down.rgb.begin() + (image.height - 1 - y) * row);
  }
  std::string bytes = make_bmp(upside_down);
  for (size_t i = 0; i < 4; ++i) bytes[22 + i] = static_cast<char>(static_cast<uint32_t>(-image.height) >> 8 * i & 255);
  EXPECT_EQ(decode_image(bytes).rgb, image.rgb);
  for (const uint32_t height : {0x80000000U, 0x80000001U, 0xc0000000U}) {
    for (size_t i = 0; i < 4; ++i) bytes[22 + i] = static_cast<char>(height >> 8 * i & 255);
    EXPECT_THAT(decode_error(bytes), AnyOf(HasSubstr("BMP"), HasSubstr("at most"))) << height;
  }
}

// Valid by BITMAPINFOHEADER: pixels may start later than the header ends (bytes 10 to 13), with a palette of true
// colours in between, for example.
TEST(Bmp, MayHaveBytesBetweenHeaderAndPixels) {
  const Image image = ramp(9, 7);
  std::string bytes = make_bmp(image);
  ASSERT_EQ(bytes[10], 54);
  for (const size_t between : {size_t{1}, size_t{8}, size_t{3000}}) {
    std::string spread = bytes;
    spread.insert(54, between, 'x');
    for (size_t i = 0; i < 4; ++i) spread[10 + i] = static_cast<char>((54 + between) >> 8 * i & 255);
    EXPECT_EQ(decode_image(spread).rgb, image.rgb) << between;
  }
}

TEST(Bmp, OfRunsIsRefusedByItsKind) {
  std::string bytes = make_bmp(ramp(4, 4));
  bytes[30] = 1;
  EXPECT_THAT(decode_error(bytes), HasSubstr("run-length encoded"));
}

// The fourth byte is not transparency unless a mask says so.
TEST(Bmp, Of32BitsHasPaddingAndNoTransparency) {
  const Image image = ramp(3, 5);
  const std::string plain = make_bmp(image);
  std::string bytes = plain.substr(0, 54);
  bytes[28] = 32;
  const size_t stride = (static_cast<size_t>(image.width) * 3 + 3) / 4 * 4;
  for (size_t y = 0; y < static_cast<size_t>(image.height); ++y) {
    for (size_t x = 0; x < static_cast<size_t>(image.width); ++x)
      bytes += plain.substr(54 + y * stride + 3 * x, 3) + static_cast<char>(7 * x);
  }
  EXPECT_EQ(decode_image(bytes).rgb, image.rgb);
}

// Downloaded images are called .jpg but are WebP (hardikvasa/google-images-download issue 275).
TEST(ReadImage, BelievesTheContentAndNotTheSuffix) {
  const TempDir folder;
  const Image image = ramp(12, 12);
  write_file(folder / "lying.jpg", encode_png(image));
  EXPECT_EQ(read_image(folder / "lying.jpg").rgb, image.rgb);
}

// "i assume there is/are corrupted images, but i couldn't identify which one" (eg4000/SKU110K_CVPR19 issue 23).
TEST(ReadImage, NamesTheFileAndTheReason) {
  const TempDir folder;
  write_file(folder / "zero.jpg", "");
  write_file(folder / "page.jpg", "<html>not found</html>");
  write_file(folder / "moving.png", "GIF89a............");
  EXPECT_THAT(message_of([&] { read_image(folder / "zero.jpg"); }), AllOf(HasSubstr("zero.jpg"), HasSubstr("empty")));
  EXPECT_THAT(message_of([&] { read_image(folder / "page.jpg"); }),
              AllOf(HasSubstr("page.jpg"), HasSubstr("a page of HTML"), HasSubstr("expected a JPEG, PNG")));
  EXPECT_THAT(message_of([&] { read_image(folder / "moving.png"); }), HasSubstr("GIF"));
  EXPECT_THAT(message_of([&] { read_image(folder / "none.jpg"); }), HasSubstr("none.jpg"));
}

// What fastai's verify_images silently deletes after a download of search results.
TEST(DecodeImage, NamesWhatIsFoundInThePlaceOfPhotos) {
  EXPECT_THAT(decode_error("version https://git-lfs.github.com/spec/v1\noid sha256:1\n"), HasSubstr("git lfs pull"));
  EXPECT_THAT(decode_error("<!DOCTYPE html><html>"), HasSubstr("a page of HTML"));
  EXPECT_THAT(decode_error("<?xml version=\"1.0\"?><svg/>"), HasSubstr("an SVG drawing"));
  EXPECT_THAT(decode_error("%PDF-1.7"), HasSubstr("a PDF"));
  EXPECT_THAT(decode_error("PK\x03\x04...."), HasSubstr("a zip archive"));
}

// ImageNet's files end in .JPEG and a camera's in .JPG, which loaders do not find (huggingface/datasets issue 4514,
// open-edge-platform/anomalib issue 3058).
TEST(ImageNames, KnowTheSuffixesOfEveryKindInAnyCapitals) {
  for (const char* name :
       {"a.JPG", "a.jpeg", "a.jpe",  "a.jfif", "a.mpo", "a.MPO", "a.png", "a.webp", "a.HEIC", "a.heif",
        "a.hif", "a.HIF",  "a.avif", "a.jxl",  "a.jp2", "a.j2k", "a.tif", "a.tiff", "a.gif",  "a.bmp",
        "a.DNG", "a.CR2",  "a.cr3",  "a.nef",  "a.ARW", "a.orf", "a.rw2", "a.raf",  "a.X3F",  "a.pef"})
    EXPECT_TRUE(is_image_name(name)) << name;
  // simulot/immich-go issue 319: "SYNOFILE_THUMB_{some pattern}.jpg should be automatically skipped"
  for (const char* name : {"SYNOFILE_THUMB_M.jpg", "SYNOPHOTO_THUMB_XL.jpg", "a", "a.", ".jpg", "a.txt", "a.jpg.part",
                           "a.xmp", "a.aae", "a.mov", "a.raw", "jpg"})
    EXPECT_FALSE(is_image_name(name)) << name;
  EXPECT_THAT(image_kinds(), HasSubstr("JPEG XL, JPEG 2000, TIFF, GIF or BMP"));
}

// Reported in public: python-pillow/Pillow pull request 2583.
TEST(DecodeImage, RefusesAnImageThatSaysItIsHuge) {
  DecodeOptions options;
  options.max_pixels = 100;
  const Image image = ramp(11, 10);
  for (const std::string& bytes : {make_rgb_jpeg(image), encode_png(image), make_webp(image), make_bmp(image)}) {
    EXPECT_THAT(message_of([&] { decode_image(bytes, options); }), HasSubstr("10 x 11 pixels"));
  }
}

TEST(DecodeImage, SurvivesEveryPrefixAndChangedByte) {
  const Image image = ramp(16, 16);
  for (const std::string& whole : {make_rgb_jpeg(image, std::string("Exif\0\0", 6) + make_exif(6, "II")),
                                   encode_png(image), make_webp(image), make_bmp(image)}) {
    for (size_t size = 0; size < whole.size(); size += 7)
      EXPECT_NE(decode_error(whole.substr(0, size)), "(no Error)") << size;
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 0xFF);
      const std::string outcome = decode_error(changed);  // an image or an Error, nothing else
      EXPECT_FALSE(outcome.empty());
    }
  }
}

}  // namespace
}  // namespace protocom::testing
