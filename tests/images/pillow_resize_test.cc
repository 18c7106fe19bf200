#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "images/image.h"
#include "images/preprocessing.h"
#include "images/resampling.h"

namespace protocom {
namespace {

/// Returns the picture of tests/golden/pillow_resize.py.
Image golden_picture() {
  constexpr int64_t kWidth = 37;
  constexpr int64_t kHeight = 23;
  Image image{kHeight, kWidth, {}};
  for (int64_t y = 0; y < kHeight; ++y) {
    for (int64_t x = 0; x < kWidth; ++x) {
      image.rgb.push_back(static_cast<uint8_t>((7 * x * x + 13 * y) % 256));
      image.rgb.push_back(static_cast<uint8_t>(x * y * 5 % 256));
      image.rgb.push_back((x / 3 + y / 2) % 2 != 0 ? 255 : 0);
    }
  }
  return image;
}

TEST(PillowResize, GivesPillowsPixelsToTheBit) {
  std::ifstream file(std::filesystem::path(PROTOCOM_GOLDEN).parent_path() / "pillow_resize.json");
  const auto golden = nlohmann::json::parse(file);
  for (const auto& [name, expected] : golden.items()) {
    std::istringstream words(name);
    std::string filter;
    Preprocessing sizes;
    words >> filter >> sizes.resize >> sizes.image_size;
    sizes.resampling = parse_resampling(filter);
    const auto pixels = expected.get<std::vector<uint8_t>>();
    const std::vector<uint8_t> found = resize_and_crop(golden_picture(), sizes).rgb;
    ASSERT_EQ(found.size(), pixels.size());
    if (sizes.resampling != Resampling::kBilinear) {
      EXPECT_EQ(found, pixels) << name;
      continue;
    }
    double apart = 0;  // from another program, which rounds the other side to the nearest
    for (size_t i = 0; i < pixels.size(); ++i) apart += std::abs(static_cast<double>(found[i]) - pixels[i]);
    EXPECT_LT(apart / static_cast<double>(pixels.size()), 2) << name;
  }
  EXPECT_EQ(golden.size(), 12U);
}

TEST(PillowResize, NumbersAreThoseOfPillow) {
  EXPECT_EQ(resampling_of_pillow(0), Resampling::kNearest);
  EXPECT_EQ(resampling_of_pillow(1), Resampling::kLanczos);
  EXPECT_EQ(resampling_of_pillow(2), Resampling::kBilinear);
  EXPECT_EQ(resampling_of_pillow(3), Resampling::kBicubic);
  EXPECT_THROW(resampling_of_pillow(6), Error);
  EXPECT_THROW(parse_resampling("cubic"), UsageError);
}

TEST(PillowResize, IsAskedForByAParameter) {
  const Preprocessing stated = parse_preprocessing("clip:resampling=bicubic");
  EXPECT_EQ(stated.resampling, Resampling::kBicubic);
  EXPECT_FALSE(stated == parse_preprocessing("clip"));
  EXPECT_EQ(describe(stated).substr(0, 39), "shorter side 224 bicubic, crop 224, mea");
  EXPECT_TRUE(preprocessing_from(to_json(stated), "test") == stated);
  EXPECT_FALSE(to_json(parse_preprocessing("clip")).contains("resampling")) << "files of before read the same";
}

TEST(Squeeze, MakesASquareOfTheWholeImage) {
  const Preprocessing stated = parse_preprocessing("half:size=8:squeeze:resampling=bicubic");
  EXPECT_TRUE(stated.squeeze);
  EXPECT_EQ(stated.shorter_side(), 8) << "nothing is cut off";
  EXPECT_EQ(parse_preprocessing("half:squeeze:resize=256").resize, 256);
  EXPECT_EQ(describe(stated).substr(0, 28), "squeezed to 8 bicubic, crop ");
  EXPECT_TRUE(preprocessing_from(to_json(stated), "test") == stated);
  EXPECT_FALSE(stated == parse_preprocessing("half:size=8:resize=8:resampling=bicubic"));
  EXPECT_FALSE(to_json(parse_preprocessing("clip")).contains("squeeze")) << "files of before read the same";
  EXPECT_THROW(parse_preprocessing("half:squeeze=1"), UsageError);
  Image halves{8, 16, std::vector<uint8_t>(size_t{3} * 8 * 16, 0)};  // black on the left, white on the right
  for (size_t i = 0; i < halves.rgb.size(); ++i) halves.rgb[i] = i / 3 % 16 < 8 ? 0 : 255;
  for (const char* how : {"plain:size=8:squeeze", "plain:size=8:squeeze:resampling=bicubic"}) {
    const Image square = resize_and_crop(halves, parse_preprocessing(how));
    EXPECT_EQ(square.width, 8);
    EXPECT_EQ(square.height, 8);
    EXPECT_LT(square.rgb[3 * 1], 8) << how;
    EXPECT_GT(square.rgb[3 * 6], 247) << how;
  }
}

}  // namespace
}  // namespace protocom
