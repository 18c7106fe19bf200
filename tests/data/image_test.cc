#include "protocom/data/image.h"

// clang-format off
#include <cstdio>  // jpeglib.h needs FILE
#include <jpeglib.h>
// clang-format on

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>
#include <webp/encode.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Pixel = std::vector<int>;

Pixel pixel(const Image& image, int64_t y, int64_t x) {
  const auto* p = image.rgb.data() + 3 * (y * image.width + x);
  return {p[0], p[1], p[2]};
}

Image painted(int64_t height, int64_t width, const std::function<Pixel(int64_t, int64_t)>& colour) {
  Image image{height, width, {}};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (const int value : colour(y, x)) image.rgb.push_back(static_cast<uint8_t>(value));
    }
  }
  return image;
}

/// Smooth, so that lossy codecs keep it nearly, and different in every direction and channel.
Image ramp(int64_t height, int64_t width) {
  return painted(height, width, [&](int64_t y, int64_t x) {
    return Pixel{static_cast<int>(255 * x / width), static_cast<int>(255 * y / height),
                 static_cast<int>(128 + 64 * x / width)};
  });
}

double mean_difference(const Image& a, const Image& b) {
  EXPECT_EQ(a.height, b.height);
  EXPECT_EQ(a.width, b.width);
  if (a.rgb.size() != b.rgb.size() || a.rgb.empty()) return 255;
  double sum = 0;
  for (size_t i = 0; i < a.rgb.size(); ++i) sum += std::abs(a.rgb[i] - b.rgb[i]);
  return sum / static_cast<double>(a.rgb.size());
}

int largest_difference(const Image& a, const Image& b) {
  EXPECT_EQ(a.rgb.size(), b.rgb.size());
  int largest = 0;
  for (size_t i = 0; i < std::min(a.rgb.size(), b.rgb.size()); ++i)
    largest = std::max(largest, std::abs(a.rgb[i] - b.rgb[i]));
  return largest;
}

std::string decode_error(const std::string& bytes) {
  return message_of([&] { decode_image(bytes); });
}

// ---- files made with the codecs' own encoders
// -----------------------------------------------------------------------------------

struct JpegSpec {
  int64_t height = 0, width = 0;
  int components = 3;
  J_COLOR_SPACE input = JCS_RGB, stored = JCS_YCbCr;
  bool adobe = false, progressive = false;
  std::string exif;
};

std::string make_jpeg(const std::vector<uint8_t>& samples, const JpegSpec& spec) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = static_cast<JDIMENSION>(spec.width);
  info.image_height = static_cast<JDIMENSION>(spec.height);
  info.input_components = spec.components;
  info.in_color_space = spec.input;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, spec.stored);
  jpeg_set_quality(&info, 98, TRUE);
  info.write_Adobe_marker = spec.adobe ? TRUE : FALSE;
  if (spec.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  if (!spec.exif.empty()) {
    jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(spec.exif.data()),
                      static_cast<unsigned>(spec.exif.size()));
  }
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(samples.data() + size_t{info.next_scanline} * info.image_width *
                                                          static_cast<size_t>(spec.components));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string bytes(reinterpret_cast<const char*>(buffer), size);
  jpeg_destroy_compress(&info);
  std::free(buffer);
  return bytes;
}

std::string make_rgb_jpeg(const Image& image, const std::string& exif = "") {
  JpegSpec spec;
  spec.height = image.height;
  spec.width = image.width;
  spec.exif = exif;
  return make_jpeg(image.rgb, spec);
}

/// The TIFF structure of EXIF by hand: one directory with the orientation alone.
std::string make_exif(int orientation, const std::string& byte_order) {
  const bool big = byte_order == "MM";
  const auto number = [&](unsigned value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>((value >> (8 * (big ? bytes - 1 - i : i))) & 255));
    return text;
  };
  return byte_order + number(42, 2) + number(8, 4) + number(1, 2) + number(0x0112, 2) + number(3, 2) + number(1, 4) +
         number(static_cast<unsigned>(orientation), 2) + number(0, 2) + number(0, 4);
}

struct PngSpec {
  uint32_t height = 0, width = 0;
  int depth = 8;
  int colour = PNG_COLOR_TYPE_RGB;
  int interlace = PNG_INTERLACE_NONE;
  std::vector<png_color> palette;
  std::vector<png_byte> palette_alpha;
  std::string exif;
};

void append_to_string(png_structp png, png_bytep data, size_t count) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(data), count);
}

std::string make_png(std::vector<uint8_t> rows, const PngSpec& spec) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  std::string bytes;
  png_set_write_fn(png, &bytes, append_to_string, nullptr);
  png_set_IHDR(png, info, spec.width, spec.height, spec.depth, spec.colour, spec.interlace, 0, 0);
  if (!spec.palette.empty()) png_set_PLTE(png, info, spec.palette.data(), static_cast<int>(spec.palette.size()));
  if (!spec.palette_alpha.empty()) {
    png_set_tRNS(png, info, spec.palette_alpha.data(), static_cast<int>(spec.palette_alpha.size()), nullptr);
  }
  std::string exif = spec.exif;
  if (!exif.empty())
    png_set_eXIf_1(png, info, static_cast<png_uint_32>(exif.size()), reinterpret_cast<png_bytep>(exif.data()));
  std::vector<png_bytep> pointers;
  for (uint32_t y = 0; y < spec.height; ++y) pointers.push_back(rows.data() + y * (rows.size() / spec.height));
  png_set_rows(png, info, pointers.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

std::string make_webp(const Image& image) {
  uint8_t* out = nullptr;
  const size_t size = WebPEncodeLosslessRGB(image.rgb.data(), static_cast<int>(image.width),
                                            static_cast<int>(image.height), static_cast<int>(image.width * 3), &out);
  std::string bytes(reinterpret_cast<char*>(out), size);
  WebPFree(out);
  return bytes;
}

std::string make_bmp(const Image& image) {
  const auto number = [](int64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(i < 8 ? (value >> (8 * i)) & 255 : 0));
    return text;
  };
  const int64_t stride = (image.width * 3 + 3) / 4 * 4;
  std::string bytes = "BM" + number(54 + stride * image.height, 4) + number(0, 4) + number(54, 4) + number(40, 4) +
                      number(image.width, 4) + number(image.height, 4) + number(1, 2) + number(24, 2) +
                      std::string(24, '\0');
  for (int64_t y = image.height - 1; y >= 0; --y) {
    std::string row;
    for (int64_t x = 0; x < image.width; ++x) {
      const Pixel p = pixel(image, y, x);
      for (const int value : {p[2], p[1], p[0]}) row.push_back(static_cast<char>(value));
    }
    row.resize(static_cast<size_t>(stride), '\0');
    bytes += row;
  }
  return bytes;
}

// ---- JPEG
// -------------------------------------------------------------------------------------------------------------------------

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

TEST(Jpeg, EveryExifOrientationComesOutUpright) {
  // The upright picture: red top left, green top right, blue bottom left, white bottom right; twice as wide as high.
  const int64_t height = 32;
  const int64_t width = 64;
  const Image upright = painted(height, width, [&](int64_t y, int64_t x) {
    if (y < height / 2) return x < width / 2 ? Pixel{255, 0, 0} : Pixel{0, 255, 0};
    return x < width / 2 ? Pixel{0, 0, 255} : Pixel{255, 255, 255};
  });
  // What EXIF 2.32 says of the stored first row and first column, as the upright pixel that the stored one at (row r,
  // column c) shows.
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
  EXPECT_LT(mean_difference(decode_square_image(bytes, 84), resize_and_crop(image, 84)), 1.5);
}

// ---- PNG
// --------------------------------------------------------------------------------------------------------------------------

TEST(Png, IsLossless) {
  const Image image = ramp(13, 29);
  EXPECT_EQ(decode_image(encode_png(image)).rgb, image.rgb);
  PngSpec interlaced;
  interlaced.height = 13;
  interlaced.width = 29;
  interlaced.interlace = PNG_INTERLACE_ADAM7;
  EXPECT_EQ(decode_image(make_png(image.rgb, interlaced)).rgb, image.rgb);
}

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

// ---- WebP and BMP
// -----------------------------------------------------------------------------------------------------------------

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

// BITMAPINFOHEADER: a height below 0 (at byte 22) says that the rows run from top to bottom.
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

// A scan may come again and again: each costs as much time as the whole image and a few hundred bytes of the file.
TEST(Jpeg, OfMoreScansThanAnyEncoderMakesIsRefused) {
  JpegSpec spec;
  spec.height = spec.width = 64;
  spec.progressive = true;
  const std::string bytes = make_jpeg(ramp(64, 64).rgb, spec);
  // The first scan holds the upper bits of the mean values; unlike a refinement it reads the same each time.
  const size_t scan = bytes.find("\xff\xda"), after = bytes.find("\xff\xc4", scan);
  ASSERT_LT(scan, after);
  ASSERT_NE(after, std::string::npos);
  std::string long_one = bytes.substr(0, after);
  for (int i = 0; i < 480; ++i) long_one += bytes.substr(scan, after - scan);
  EXPECT_THAT(decode_error(long_one + bytes.substr(after)), HasSubstr("too many scans"));
  EXPECT_EQ(decode_image(bytes).width, 64);
}

// ---- any file
// ---------------------------------------------------------------------------------------------------------------------

TEST(ReadImage, BelievesTheContentAndNotTheSuffix) {
  const testing::TempDir folder;
  const Image image = ramp(12, 12);
  write_file(folder / "lying.jpg", encode_png(image));
  EXPECT_EQ(read_image(folder / "lying.jpg").rgb, image.rgb);
}

TEST(ReadImage, NamesTheFileAndTheReason) {
  const testing::TempDir folder;
  write_file(folder / "zero.jpg", "");
  write_file(folder / "page.jpg", "<html>not found</html>");
  write_file(folder / "moving.png", "GIF89a............");
  EXPECT_THAT(message_of([&] { read_image(folder / "zero.jpg"); }), AllOf(HasSubstr("zero.jpg"), HasSubstr("empty")));
  EXPECT_THAT(message_of([&] { read_image(folder / "page.jpg"); }),
              AllOf(HasSubstr("page.jpg"), HasSubstr("it is no JPEG, PNG")));
  EXPECT_THAT(message_of([&] { read_image(folder / "moving.png"); }), HasSubstr("GIF"));
  EXPECT_THAT(message_of([&] { read_image(folder / "none.jpg"); }), HasSubstr("none.jpg"));
}

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

// ---- resize
// -----------------------------------------------------------------------------------------------------------------------

at::Tensor torch_bilinear(const Image& image, int64_t height, int64_t width) {
  const auto pixels =
      at::from_blob(const_cast<uint8_t*>(image.rgb.data()), {1, image.height, image.width, 3}, at::kByte);
  const auto planes = pixels.permute({0, 3, 1, 2}).to(at::kFloat).contiguous();  // [1, 3, h, w]
  return at::_upsample_bilinear2d_aa(planes, {height, width}, false)[0].permute({1, 2, 0}).contiguous();  // [h, w, 3]
}

TEST(Resize, AgreesWithTorchsAntialiasedBilinear) {
  // A texture with sharp edges, up and down, whole and broken ratios.
  const Image image = painted(60, 90, [](int64_t y, int64_t x) {
    return Pixel{static_cast<int>((x * 37 + y * 11) % 256), (x / 7 + y / 5) % 2 == 0 ? 255 : 0,
                 static_cast<int>(x * 2)};
  });
  for (const auto& [height, width] :
       std::vector<std::pair<int64_t, int64_t>>{{84, 126}, {40, 60}, {30, 45}, {23, 31}, {60, 45}, {120, 91}}) {
    SCOPED_TRACE(std::to_string(height) + " x " + std::to_string(width));
    const Image ours = resize(image, height, width);
    const auto ours_tensor =
        at::from_blob(const_cast<uint8_t*>(ours.rgb.data()), {height, width, 3}, at::kByte).to(at::kFloat);
    const auto difference = (ours_tensor - torch_bilinear(image, height, width)).abs();
    EXPECT_LT(difference.slice(0, 4, height - 4).slice(1, 4, width - 4).max().item<float>(), 1.0F);
    EXPECT_LT(difference.mean().item<float>(), 0.6F);  // at the border torch renormalises, we repeat the border pixel
  }
}

TEST(Resize, KeepsAFlatColourAndAnEqualSize) {
  const Image flat = painted(17, 23, [](int64_t, int64_t) { return Pixel{12, 200, 99}; });
  for (const int64_t size : {5, 23, 40}) {
    const Image resized = resize(flat, size, size);
    EXPECT_EQ(largest_difference(resized, painted(size, size, [](int64_t, int64_t) { return Pixel{12, 200, 99}; })), 0);
  }
  const Image image = ramp(10, 20);
  EXPECT_EQ(resize(image, 10, 20).rgb, image.rgb);
}

TEST(Resize, RefusesSizesThatAreNotPositive) {
  EXPECT_THROW(resize(ramp(4, 4), 0, 4), UsageError);
  EXPECT_THROW(resize_and_crop(ramp(4, 4), -1), UsageError);
}

TEST(ResizeAndCrop, IsTheCentreOfTheWholeResize) {
  for (const auto& [height, width] :
       std::vector<std::pair<int64_t, int64_t>>{{200, 333}, {333, 200}, {50, 71}, {84, 84}, {84, 120}}) {
    SCOPED_TRACE(std::to_string(height) + " x " + std::to_string(width));
    const Image image = ramp(height, width);
    const double scale = 84.0 / static_cast<double>(std::min(height, width));
    const Image whole = resize(image, std::lround(static_cast<double>(height) * scale),
                               std::lround(static_cast<double>(width) * scale));
    const int64_t top = (whole.height - 84) / 2;
    const int64_t left = (whole.width - 84) / 2;
    const Image centre = painted(84, 84, [&](int64_t y, int64_t x) { return pixel(whole, top + y, left + x); });
    EXPECT_LE(largest_difference(resize_and_crop(image, 84), centre), 1);
  }
}

TEST(ResizeAndCrop, TakesExtremeShapes) {
  EXPECT_EQ(resize_and_crop(ramp(1, 500), 8).rgb.size(), 8u * 8 * 3);
  // A longer shorter side leaves a border: the centre of the same image at that size.
  const Image whole = ramp(32, 32);
  const Image crop = resize_and_crop(whole, Preprocessing{16, 32});
  for (int64_t x = 0; x < 16; ++x)
    EXPECT_EQ(crop.rgb[static_cast<size_t>(3 * x)], whole.rgb[static_cast<size_t>(3 * (8 * 32 + 8 + x))]);
  EXPECT_THROW(resize_and_crop(whole, Preprocessing{16, 8}), UsageError);
  EXPECT_EQ(resize_and_crop(ramp(500, 1), 8).rgb.size(), 8u * 8 * 3);
  EXPECT_EQ(resize_and_crop(ramp(1, 1), 84).rgb.size(), 84u * 84 * 3);
}

}  // namespace
}  // namespace protocom
