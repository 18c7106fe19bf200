// Boxes of images by their names; expected squares computed by hand: the longer side plus a tenth of it on each side.
#include "images/image_region.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "images/image_files.h"
#include "io/files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Returns a blue image with a red rectangle.
Image with_rectangle(int64_t height, int64_t width, int64_t x, int64_t y, int64_t w, int64_t h) {
  Image image{height, width, std::vector<uint8_t>(static_cast<size_t>(3 * height * width))};
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      const bool red = row >= y && row < y + h && column >= x && column < x + w;
      image.rgb[static_cast<size_t>(3 * (row * width + column) + (red ? 0 : 2))] = 255;
    }
  }
  return image;
}

std::array<int, 3> colour_at(const Image& image, int64_t x, int64_t y) {
  const auto at = static_cast<size_t>(3 * (y * image.width + x));
  return {image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]};
}

constexpr std::array<int, 3> kRed = {255, 0, 0}, kBlue = {0, 0, 255}, kGrey = {124, 116, 104};

class Regions : public ::testing::Test {
 protected:
  fs::path put(const std::string& name, const Image& image) const {
    std::ofstream(folder_ / name, std::ios::binary) << encode_png(image);
    return folder_ / name;
  }
  TempDir folder_;
};

TEST(RegionNames, AreMediaFragmentsOfPixelsOrPercent) {
  const ImageRegion pixels = region_of("a b/1.jpg#xywh=40,20,30.5,10");
  ASSERT_TRUE(pixels.box);
  EXPECT_EQ(pixels.file, "a b/1.jpg");
  EXPECT_FALSE(pixels.box->relative);
  EXPECT_THAT((std::array{pixels.box->x, pixels.box->y, pixels.box->width, pixels.box->height}),
              ElementsAre(40, 20, 30.5, 10));
  EXPECT_EQ(name_of(pixels), "a b/1.jpg#xywh=40,20,30.5,10");
  const ImageRegion shares = region_of("1.jpg#xywh=percent:12.5,0,50,100");
  ASSERT_TRUE(shares.box && shares.box->relative);
  EXPECT_DOUBLE_EQ(shares.box->x, 0.125);
  EXPECT_EQ(name_of(shares), "1.jpg#xywh=percent:12.5,0,50,100");
  for (const char* other : {"1.jpg", "1.jpg#xywh=1,2,3", "1.jpg#xywh=1,2,3,4,5", "1.jpg#xywh=a,b,c,d", "#xywh=1,2,3,4"})
    EXPECT_FALSE(region_of(other).box) << other;
}

TEST_F(Regions, AFileThatIsCalledSoIsItself) {
  const fs::path odd = put("1.png#xywh=0,0,2,2", with_rectangle(8, 8, 0, 0, 8, 8));
  EXPECT_FALSE(region_of(odd).box);
}

TEST_F(Regions, ASquareWithATenthOnEachSideIsCutOut) {
  const fs::path path = put("a.png", with_rectangle(60, 100, 40, 20, 20, 20));
  const Image cut = read_region(path.string() + "#xywh=40,20,20,20", {24}).image;
  ASSERT_EQ(cut.height, 24);
  for (const auto& [x, y, colour] :
       {std::tuple(2, 2, kRed), {21, 21, kRed}, {1, 12, kBlue}, {12, 1, kBlue}, {22, 12, kBlue}, {12, 22, kBlue}})
    EXPECT_EQ(colour_at(cut, x, y), colour) << x << " " << y;
  EXPECT_EQ(read_region(path.string() + "#xywh=percent:40,33.333333,20,33.333333", {24}).image.rgb, cut.rgb);
}

TEST(RegionNames, HaveTheMarginUnlessItIsTheDefault) {
  const std::string name = "1.jpg#xywh=percent:12.5,0,50,100&margin=0.25";
  ASSERT_TRUE(region_of(name).box);
  EXPECT_EQ(region_of(name).box->margin, 0.25);
  EXPECT_EQ(name_of(region_of(name)), name);
  EXPECT_EQ(region_of("1.jpg#xywh=1,2,3,4").box->margin, 0.1);
  for (const char* other : {"1.5", "-0.1", "nan", "x", ""})
    EXPECT_FALSE(region_of(std::string("1.jpg#xywh=1,2,3,4&margin=") + other).box) << other;
}

TEST_F(Regions, TheMarginMayBeAnother) {
  const fs::path path = put("a.png", with_rectangle(60, 100, 40, 20, 20, 20));
  const auto cut = [&](const char* margin) {
    return read_region(path.string() + "#xywh=40,20,20,20&margin=" + margin, {40});
  };
  const Image tight = cut("0").image, wide = cut("0.5").image;  // 20 and 40 pixels of the photo
  EXPECT_EQ(colour_at(tight, 0, 0), kRed);
  EXPECT_EQ(colour_at(tight, 39, 39), kRed);
  EXPECT_EQ(colour_at(wide, 8, 20), kBlue);
  EXPECT_EQ(colour_at(wide, 12, 20), kRed);
  EXPECT_EQ(colour_at(wide, 32, 20), kBlue);
  EXPECT_NE(cut("0").hash, cut("0.5").hash);
}

TEST_F(Regions, AtTheBorderTheSquareIsMovedInside) {
  const fs::path path = put("a.png", with_rectangle(60, 100, 0, 0, 20, 20));
  const Image cut = read_region(path.string() + "#xywh=-5,-5,25,25", {24}).image;
  EXPECT_EQ(colour_at(cut, 0, 0), kRed);
  EXPECT_EQ(colour_at(cut, 19, 19), kRed);
  EXPECT_EQ(colour_at(cut, 20, 10), kBlue);
}

TEST_F(Regions, WhatIsLargerThanThePictureHasGreyAroundIt) {
  const fs::path path = put("a.png", with_rectangle(20, 100, 0, 0, 100, 20));
  const Image cut = read_region(path.string() + "#xywh=0,0,100,20", {100}).image;
  EXPECT_EQ(colour_at(cut, 50, 39), kGrey);
  EXPECT_EQ(colour_at(cut, 50, 40), kRed);
  EXPECT_EQ(colour_at(cut, 50, 59), kRed);
  EXPECT_EQ(colour_at(cut, 50, 60), kGrey);
}

TEST(SquareAround, OfALongStripIsOfBoundedSize) {
  const Image strip{1, 40000, std::vector<uint8_t>(120000, 90)};
  const Image square = square_around(strip, {0, 0, 1, 1, true}, {1, 40000});
  EXPECT_LE(square.width, 4096);
  EXPECT_EQ(square.width, square.height);
  EXPECT_EQ(square.rgb[static_cast<size_t>(3 * (square.height / 2 * square.width + square.width / 2))], 90);
}

TEST_F(Regions, EachBoxIsAnImageOfItsOwn) {
  const fs::path path = put("a.png", with_rectangle(60, 100, 0, 0, 20, 20));
  const auto hash = [&](const char* fragment) { return read_region(path.string() + fragment, {8}).hash; };
  EXPECT_EQ(hash(""), hash_file(path));
  EXPECT_NE(hash("#xywh=0,0,9,9"), hash(""));
  EXPECT_NE(hash("#xywh=0,0,9,9"), hash("#xywh=0,0,9,8"));
  EXPECT_EQ(hash("#xywh=0,0,9,9"), hash("#xywh=0,0,9.0,9"));
  EXPECT_EQ(find_images({path.string() + "#xywh=0,0,9,9"}).paths.size(), 1u);
}

TEST_F(Regions, OutsideThePictureAreNamedWithItsSize) {
  const fs::path path = put("a.png", with_rectangle(60, 100, 0, 0, 20, 20));
  EXPECT_THAT(message_of([&] { read_region(path.string() + "#xywh=100,0,5,5", {8}); }),
              ::testing::AllOf(HasSubstr("a.png#xywh=100,0,5,5"), HasSubstr("100 x 60")));
  EXPECT_THAT(message_of([&] { read_region(path.string() + "#xywh=1,0,0,5", {8}); }), HasSubstr("no size"));
}

TEST(Boxes, ThatCannotBeCutOutAreToldWhy) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(wrong_box({0, 0, 1, 1}), "");
  EXPECT_THAT(wrong_box({nan, 0, 1, 1}), HasSubstr("not finite"));
  EXPECT_THAT(wrong_box({0, 0, 1, -1}), HasSubstr("no size"));
  EXPECT_THAT(wrong_box({1e12, 0, 1, 1}), HasSubstr("beyond"));
  EXPECT_THAT(wrong_box({1, 0, 0.5, 0.5, true}), HasSubstr("outside"));
  EXPECT_THAT(wrong_box({-5, 0, 5, 5}), HasSubstr("outside"));
}

}  // namespace
}  // namespace protocom::testing
