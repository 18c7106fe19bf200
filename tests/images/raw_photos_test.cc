#include "support/raw_photos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "images/capture_time.h"
#include "images/codec.h"
#include "images/image_files.h"
#include "support/encoded_images.h"
#include "support/message_of.h"
#include "support/painted_images.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kExifMark("Exif\0\0", 6);

std::string small_preview() { return make_rgb_jpeg(ramp(12, 16)); }
std::string large_preview(const std::string& exif = "") { return make_rgb_jpeg(ramp(40, 56), exif); }

/// Returns a JPEG that claims to have 65000 x 65000 pixels.
std::string huge_preview() {
  std::string bytes = small_preview();
  return bytes.replace(bytes.find("\xff\xc0") + 5, 4, "\xfd\xe8\xfd\xe8");
}

Image turned(const std::string& jpeg, int orientation) { return codec::turn_upright(decode_image(jpeg), orientation); }

// As digiKam, Immich and darktable display them.
TEST(RawPhotos, AreReadByTheirLargestPreview) {
  RawPhotoSpec spec;
  spec.previews = {small_preview(), large_preview(), small_preview()};
  EXPECT_EQ(decode_image(make_dng(spec)).rgb, decode_image(large_preview()).rgb);
  spec.thumbnail = ramp(16, 16);
  EXPECT_EQ(decode_image(make_dng(spec)).rgb, decode_image(large_preview()).rgb);
}

TEST(RawPhotos, AreTurnedAsTheFileSaysUnlessThePreviewSaysIt) {
  RawPhotoSpec spec;
  spec.orientation = 6;
  spec.previews = {large_preview()};
  EXPECT_EQ(decode_image(make_dng(spec)).rgb, turned(large_preview(), 6).rgb);
  spec.previews = {large_preview(kExifMark + make_exif(8, "II"))};
  EXPECT_EQ(decode_image(make_dng(spec)).rgb, turned(large_preview(), 8).rgb);
  spec.previews = {large_preview(kExifMark + make_exif(1, "II"))};
  EXPECT_EQ(decode_image(make_dng(spec)).rgb, decode_image(large_preview()).rgb);
}

TEST(RawPhotos, WithoutAPreviewAreRefusedWithTheRemedy) {
  EXPECT_THAT(decode_error(make_dng({})), HasSubstr("the raw photo has no preview: export it as JPEG"));
  EXPECT_THAT(decode_error("FUJIFILMCCD-RAW 0201" + std::string(100, '\0')), HasSubstr("has no preview"));
}

TEST(RawPhotos, AnUncompressedPreviewIsReadWhereThereIsNoOther) {
  RawPhotoSpec spec;
  spec.thumbnail = ramp(16, 16);
  spec.orientation = 3;
  EXPECT_EQ(decode_image(make_dng(spec)).rgb, codec::turn_upright(ramp(16, 16), 3).rgb);
}

TEST(RawPhotos, APreviewThatIsTooLargeOrDamagedLeavesTheNextOne) {
  RawPhotoSpec spec;
  spec.previews = {huge_preview(), large_preview()};
  EXPECT_EQ(decode_image(make_dng(spec)).rgb, decode_image(large_preview()).rgb);
  spec.previews = {huge_preview()};
  EXPECT_THAT(decode_error(make_dng(spec)), HasSubstr("the image is 65000 x 65000 pixels: expected at most"));
}

// A DNG with lossy compression has its raw image in JPEG tiles.
TEST(RawPhotos, ATileOfTheRawImageIsNoPreview) {
  RawPhotoSpec spec;
  spec.jpeg_tile = make_rgb_jpeg(ramp(64, 64));
  spec.thumbnail = ramp(16, 16);
  spec.previews = {large_preview()};
  EXPECT_EQ(decode_image(make_dng(spec)).rgb, decode_image(large_preview()).rgb);
  spec.thumbnail = {};
  EXPECT_EQ(decode_image(make_dng(spec)).rgb, decode_image(large_preview()).rgb);
  spec.previews = {};
  EXPECT_THAT(decode_error(make_dng(spec)), HasSubstr("has no preview"));
}

/// Returns a file with one directory, which has the orientation, and a preview.
std::string marked_tiff(const std::string& mark) {
  TiffWriter tiff;
  const uint32_t first = tiff.put({{274, TiffWriter::shorts({8})}});
  tiff.put(large_preview());
  return tiff.finish(first, mark);
}

// By the magic numbers of file(1).
TEST(RawPhotos, OfOtherFormatsAreReadToo) {
  const auto preview_in = [](const std::string& begin) { return decode_image(begin + large_preview()).rgb; };
  EXPECT_EQ(preview_in("FUJIFILMCCD-RAW 0201" + std::string(64, '\0')), decode_image(large_preview()).rgb) << "RAF";
  EXPECT_EQ(preview_in(std::string("FOVb\0\0\2\0", 8)), decode_image(large_preview()).rgb) << "X3F";
  EXPECT_EQ(preview_in(std::string("II*\0\x10\0\0\0CR\2\0\0\0\0\0\0\0\0\0\0\0", 22)), decode_image(large_preview()).rgb)
      << "CR2";
  const std::string cr3 = std::string("\0\0\0\x18", 4) + "ftypcrx " + std::string(40, '\0') + "CMT1" +
                          make_exif(8, "II") + std::string(20, '\0');
  EXPECT_EQ(preview_in(cr3), turned(large_preview(), 8).rgb) << "CR3";
  for (const std::string& mark : {std::string("RO"), std::string("RS"), std::string("U\0", 2)})  // ORF, RW2
    EXPECT_EQ(decode_image(marked_tiff(mark)).rgb, turned(large_preview(), 8).rgb) << mark;
}

TEST(RawPhotos, HaveTheSizeOfTheirPreview) {
  RawPhotoSpec spec;
  spec.orientation = 6;
  spec.previews = {large_preview()};
  DecodeOptions options;
  options.min_side = 20;
  const auto [image, size] = decode_image_and_size(make_dng(spec), options);
  EXPECT_EQ(image.width, 20) << "decoded at half the size";
  EXPECT_EQ(size.width, 40);
  EXPECT_EQ(size.height, 56);
}

TEST(RawPhotos, ADamagedOneIsAnImageOrAnErrorWhereverItIsDamaged) {
  RawPhotoSpec spec;
  spec.thumbnail = ramp(4, 4);
  spec.previews = {small_preview()};
  spec.time = "2024:05:17 06:30:01";
  const std::string whole = make_dng(spec);
  DecodeOptions options;
  options.max_pixels = 1 << 20;
  for (size_t i = 0; i < whole.size(); i += 3) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0xff);
    EXPECT_FALSE(message_of([&] { decode_image(changed, options); }).empty());
    EXPECT_FALSE(message_of([&] { decode_image(whole.substr(0, i), options); }).empty());
    static_cast<void>(capture_time(changed));
  }
}

TEST(RawPhotos, HaveATime) {
  RawPhotoSpec spec;
  spec.time = "2024:05:17 06:30:01";
  EXPECT_EQ(capture_time(make_dng(spec)), 1715927401) << "date -u -d '2024-05-17 06:30:01' +%s";
  TiffWriter tiff;
  const uint32_t first = tiff.put({{36867, TiffWriter::text(spec.time)}});
  EXPECT_EQ(capture_time(std::string("\0\0\0\x18", 4) + "ftypcrx " + std::string(40, '\0') + "CMT2" +
                         tiff.finish(first) + std::string(20, '\0')),
            1715927401)
      << "CR3";
}

// From a camera that writes both.
TEST(RawPhotos, BesideTheJpegOfTheSameShotAreLeftOut) {
  const TempDir folder;
  for (const char* name : {"1.CR2", "1.JPG", "2.cr2", "3.jpg", "4.NEF", "4.jpeg", "5.ARW", "5.HIF", "6.dng", "6.png"})
    std::ofstream(folder / name) << "x";
  const FoundImages found = find_images({folder.path().string()});
  EXPECT_THAT(found.paths, ElementsAre(folder / "1.JPG", folder / "2.cr2", folder / "3.jpg", folder / "4.jpeg",
                                       folder / "5.HIF", folder / "6.dng", folder / "6.png"));
  EXPECT_THAT(found.skipped.describe(), HasSubstr("3 raw photo beside its JPEG or HEIC"));
}

}  // namespace
}  // namespace protocom::testing
