#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "images/image.h"
#include "support/painted_images.h"

namespace protocom::testing {
namespace {

at::Tensor torch_bilinear(const Image& image, int64_t height, int64_t width) {
  const auto pixels =
      at::from_blob(const_cast<uint8_t*>(image.rgb.data()), {1, image.height, image.width, 3}, at::kByte);
  const auto planes = pixels.permute({0, 3, 1, 2}).to(at::kFloat).contiguous();  // [1, 3, h, w]
  return at::_upsample_bilinear2d_aa(planes, {height, width}, false)[0].permute({1, 2, 0}).contiguous();  // [h, w, 3]
}

TEST(Resize, AgreesWithTorchsAntialiasedBilinear) {
  // A texture with sharp edges; enlarged and reduced, by integer and fractional ratios.
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
    EXPECT_LT(difference.mean().item<float>(),
              0.6F);  // at the border torch renormalises, while we repeat the border pixel
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
  EXPECT_THROW(resize_and_crop(ramp(4, 4), {-1}), UsageError);
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
    EXPECT_LE(largest_difference(resize_and_crop(image, {84}), centre), 1);
  }
}

TEST(ResizeAndCrop, TakesExtremeShapes) {
  EXPECT_EQ(resize_and_crop(ramp(1, 500), {8}).rgb.size(), 8u * 8 * 3);
  // A longer shorter side leaves a border: the result is the centre of the same image at that size.
  const Image whole = ramp(32, 32);
  const Image crop = resize_and_crop(whole, Preprocessing{16, 32});
  for (int64_t x = 0; x < 16; ++x)
    EXPECT_EQ(crop.rgb[static_cast<size_t>(3 * x)], whole.rgb[static_cast<size_t>(3 * (8 * 32 + 8 + x))]);
  EXPECT_THROW(resize_and_crop(whole, Preprocessing{16, 8}), UsageError);
  EXPECT_EQ(resize_and_crop(ramp(500, 1), {8}).rgb.size(), 8u * 8 * 3);
  EXPECT_EQ(resize_and_crop(ramp(1, 1), {84}).rgb.size(), 84u * 84 * 3);
}

}  // namespace
}  // namespace protocom::testing
