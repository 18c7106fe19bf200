#include "training/augment.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/to_whole.h"

namespace protocom {
namespace {

constexpr int64_t kChannels = 3;

float clamp(float value) { return std::min(std::max(value, 0.0F), 255.0F); }

float grey(const float* pixel) { return 0.299F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2]; }

float mean_grey(const std::vector<float>& rgb) {
  double sum = 0;
  for (size_t i = 0; i < rgb.size(); i += kChannels) sum += grey(&rgb[i]);
  return static_cast<float>(sum * kChannels / static_cast<double>(rgb.size()));
}

double jitter_factor(double jitter, Rng& rng) { return rng.uniform(std::max(0.0, 1 - jitter), 1 + jitter); }

}  // namespace

void flip_horizontally(Image& image) {
  for (int64_t y = 0; y < image.height; ++y) {
    uint8_t* row = image.rgb.data() + y * image.width * kChannels;
    for (int64_t left = 0, right = image.width - 1; left < right; ++left, --right) {
      std::swap_ranges(row + left * kChannels, row + (left + 1) * kChannels, row + right * kChannels);
    }
  }
}

Image shift(const Image& image, int64_t down, int64_t right) {
  Image result{image.height, image.width, std::vector<uint8_t>(image.rgb.size(), 0)};
  const int64_t first = std::max<int64_t>(0, right);
  const int64_t count = image.width - std::abs(right);
  if (count <= 0) return result;
  for (int64_t y = std::max<int64_t>(0, down); y < std::min(image.height, image.height + down); ++y) {
    const uint8_t* source = image.rgb.data() + ((y - down) * image.width + first - right) * kChannels;
    std::memcpy(result.rgb.data() + (y * image.width + first) * kChannels, source,
                static_cast<size_t>(count * kChannels));
  }
  return result;
}

void change_colours(Image& image, const ColourFactors& factors) {
  const auto brightness = static_cast<float>(factors.brightness);
  const auto contrast = static_cast<float>(factors.contrast);
  const auto saturation = static_cast<float>(factors.saturation);
  std::vector<float> rgb(image.rgb.begin(), image.rgb.end());
  for (float& value : rgb) value = clamp(value * brightness);
  const float centre = (1 - contrast) * mean_grey(rgb);
  for (float& value : rgb) value = clamp(value * contrast + centre);
  for (size_t i = 0; i < rgb.size(); i += kChannels) {
    const float own = (1 - saturation) * grey(&rgb[i]);
    for (size_t c = 0; c < kChannels; ++c)
      // NOLINTNEXTLINE(bugprone-incorrect-roundings): never negative
      image.rgb[i + c] = static_cast<uint8_t>(clamp(rgb[i + c] * saturation + own) + 0.5F);
  }
}

Image rotate_quarters(const Image& image, int turns) {
  if (image.height != image.width) fail("only square images are rotated, found {} x {}", image.height, image.width);
  const int64_t side = image.width;
  Image result = image;
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t x = 0; x < side; ++x) {
      const int64_t from_y[] = {y, x, side - 1 - y, side - 1 - x};
      const int64_t from_x[] = {x, side - 1 - y, side - 1 - x, y};
      const uint8_t* source = image.rgb.data() + (from_y[turns % 4] * side + from_x[turns % 4]) * kChannels;
      std::memcpy(result.rgb.data() + (y * side + x) * kChannels, source, kChannels);
    }
  }
  return result;
}

AugmentDraw draw_augmentation(const AugmentOptions& options, int64_t side, Rng& rng) {
  const auto padding = to_whole<int64_t>(std::round(options.crop_padding * static_cast<double>(side)));
  // One draw per statement: the order of evaluation of arguments is up to the compiler.
  AugmentDraw draw;
  draw.down = rng.below(2 * padding + 1) - padding;
  draw.right = rng.below(2 * padding + 1) - padding;
  if (options.colour_jitter > 0) {
    draw.colours.brightness = jitter_factor(options.colour_jitter, rng);
    draw.colours.contrast = jitter_factor(options.colour_jitter, rng);
    draw.colours.saturation = jitter_factor(options.colour_jitter, rng);
  }
  draw.flip = rng.uniform() < options.flip_probability;
  return draw;
}

Image augment(const Image& image, const AugmentDraw& draw) {
  Image result = draw.down != 0 || draw.right != 0 ? shift(image, draw.down, draw.right) : image;
  const ColourFactors& colours = draw.colours;
  if (colours.brightness != 1 || colours.contrast != 1 || colours.saturation != 1) change_colours(result, colours);
  if (draw.flip) flip_horizontally(result);
  return result;
}

}  // namespace protocom
