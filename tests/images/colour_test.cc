#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lcms2.h>
#include <tiffio.h>

#include "images/codec.h"
#include "io/files.h"
#include "support/encoded_images.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;

Image one_colour(const Pixel& colour) {
  return painted(16, 24, [&](int64_t, int64_t) { return colour; });
}

/// Returns the JPEG with the profile in an APP2 marker after its first one, as specified by the ICC.
std::string with_profile(const std::string& jpeg, const std::string& profile) {
  const std::string mark("ICC_PROFILE\0\x01\x01", 14);
  const size_t size = 2 + mark.size() + profile.size();
  std::string marker = "\xff\xe2";
  marker.push_back(static_cast<char>(size >> 8));
  marker.push_back(static_cast<char>(size & 255));
  return jpeg.substr(0, 2) + marker + mark + profile + jpeg.substr(2);
}

std::string number(size_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>((value >> (8 * i)) & 255));
  return text;
}

std::string webp_with_profile(const Image& image, const std::string& profile) {
  const std::string padded = profile + std::string(profile.size() % 2, '\0');
  const std::string chunks = "VP8X" + number(10, 4) + number(32, 4) + number(static_cast<size_t>(image.width) - 1, 3) +
                             number(static_cast<size_t>(image.height) - 1, 3) + "ICCP" + number(profile.size(), 4) +
                             padded + make_webp(image).substr(12);
  return "RIFF" + number(4 + chunks.size(), 4) + "WEBP" + chunks;
}

void expect_colour(const Image& image, const Pixel& expected, int tolerance) {
  const Pixel found = pixel(image, image.height / 2, image.width / 2);
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(found[c], expected[c], tolerance) << "channel " << c;
}

std::string srgb_profile() {
  cmsHPROFILE made = cmsCreate_sRGBProfile();
  cmsUInt32Number size = 0;
  cmsSaveProfileToMem(made, nullptr, &size);
  std::string bytes(size, '\0');
  cmsSaveProfileToMem(made, bytes.data(), &size);
  cmsCloseProfile(made);
  return bytes;
}

// Computed by a separate script from the published matrix of Display P3 to sRGB (linear light, D65) and sRGB's curve:
// (200, 120, 80) gives 213.0, 115.0, 70.4; (60, 160, 90) gives below 0, 162.6, 81.7.
struct Converted {
  Pixel p3, srgb;
};

// Reported in public: photoprism/photoprism issue 1798.
TEST(Colours, OfDisplayP3BecomeThoseOfSrgb) {
  const std::string profile = codec::display_p3_profile();
  for (const auto& [p3, srgb] : std::vector<Converted>{
           {{200, 120, 80}, {213, 115, 70}}, {{60, 160, 90}, {0, 163, 82}}, {{128, 128, 128}, {128, 128, 128}}}) {
    const Image image = one_colour(p3);
    expect_colour(decode_image(with_profile(make_rgb_jpeg(image), profile)), srgb, 3);
    expect_colour(decode_image(webp_with_profile(image, profile)), srgb, 1);
  }
}

TEST(Colours, OfAReducedJpegAreConvertedToo) {
  const Image image = painted(64, 64, [](int64_t, int64_t) { return Pixel{200, 120, 80}; });
  DecodeOptions reduced;
  reduced.min_side = 16;
  const Image found = decode_image(with_profile(make_rgb_jpeg(image), codec::display_p3_profile()), reduced);
  EXPECT_EQ(found.width, 16);
  expect_colour(found, {213, 115, 70}, 3);
}

TEST(Colours, OfSrgbStayAsTheyAreToTheLastBit) {
  const Image image = ramp(16, 24);
  EXPECT_EQ(decode_image(webp_with_profile(image, srgb_profile())).rgb, image.rgb);
}

TEST(Colours, OfADamagedProfileStayAsTheyAre) {
  const Image image = ramp(16, 24);
  const std::string profile = codec::display_p3_profile();
  for (const std::string& damaged : {profile.substr(0, 100), std::string(500, 'x'), std::string("x")})
    EXPECT_EQ(decode_image(webp_with_profile(image, damaged)).rgb, image.rgb);
}

/// Returns EXIF with the orientation in another type than the standard's SHORT.
std::string exif_of_type(unsigned type, unsigned value) {
  return "II" + number(42, 2) + number(8, 4) + number(1, 2) + number(0x0112, 2) + number(type, 2) + number(1, 4) +
         number(value, 4) + number(0, 4);
}

TEST(ExifOrientation, IsReadWhateverWholeNumberItIsTypedAs) {
  constexpr unsigned kByte = 1, kShort = 3, kLong = 4, kAscii = 2;
  for (const unsigned type : {kByte, kShort, kLong})
    EXPECT_EQ(codec::exif_orientation(exif_of_type(type, 6)), 6) << type;
  EXPECT_EQ(codec::exif_orientation(exif_of_type(kLong, 9)), 0);
  EXPECT_EQ(codec::exif_orientation(exif_of_type(kLong, 0x10006)), 0);
  EXPECT_EQ(codec::exif_orientation(exif_of_type(kAscii, 6)), 0);
}

struct TiffPage {
  uint32_t side;
  bool thumbnail;
};

/// Writes a TIFF of square pages.
std::string make_tiff(const fs::path& path, const std::vector<TiffPage>& pages) {
  TIFF* file = TIFFOpen(path.c_str(), "w");
  for (const TiffPage& page : pages) {
    TIFFSetField(file, TIFFTAG_SUBFILETYPE, page.thumbnail ? FILETYPE_REDUCEDIMAGE : 0);
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, page.side);
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, page.side);
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    std::vector<uint8_t> row(size_t{page.side} * 3, static_cast<uint8_t>(page.side));
    for (uint32_t y = 0; y < page.side; ++y) TIFFWriteScanline(file, row.data(), y, 0);
    TIFFWriteDirectory(file);
  }
  TIFFClose(file);
  return read_file(path);
}

TEST(TiffPages, ThumbnailInFrontIsPassedOverForTheLargestPage) {
  const TempDir folder;
  const auto width_of = [&](const std::vector<TiffPage>& pages) {
    return decode_image(make_tiff(folder / "pages.tif", pages)).width;
  };
  EXPECT_EQ(width_of({{8, true}, {16, false}, {32, false}, {24, false}}), 32);
  EXPECT_EQ(width_of({{8, true}, {16, true}}), 8);
  EXPECT_EQ(width_of({{8, false}, {16, false}}), 8) << "pages of a document: the first";
}

}  // namespace
}  // namespace protocom::testing
