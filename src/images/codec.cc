#include "images/codec.h"

#include <algorithm>

namespace protocom::codec {

int64_t reduction(int64_t height, int64_t width, const DecodeOptions& options) {
  if (options.min_side <= 0) return 1;
  // Powers of two only: libjpeg-turbo has fast code for those and slow code for the other eighths.
  int64_t factor = 1;
  while (factor < 8 && (std::min(height, width) + 2 * factor - 1) / (2 * factor) >= options.min_side) factor *= 2;
  return factor;
}

namespace {

void take_pixels(int64_t height, int64_t width, int64_t pixels, const DecodeOptions& options) {
  if (options.pixels_left == nullptr) return;
  *options.pixels_left -= pixels;
  if (*options.pixels_left < 0)
    fail("the image is {} x {} pixels, more than the limit for all images of the request leaves", width, height);
}

}  // namespace

void check_size(int64_t height, int64_t width, const DecodeOptions& options) {
  if (height < 1 || width < 1) fail("the image is {} x {} pixels: expected at least 1 x 1", width, height);
  if (width > options.max_pixels / height) {
    fail("the image is {} x {} pixels: expected at most {} million", width, height, options.max_pixels / 1000000);
  }
  take_pixels(height, width, height * width, options);
}

void check_reduced_size(int64_t height, int64_t width, int64_t decoded, const DecodeOptions& options) {
  constexpr int64_t kPassing = 4;
  if (height < 1 || width < 1) fail("the image is {} x {} pixels: expected at least 1 x 1", width, height);
  const int64_t most = kPassing * options.max_pixels;
  if (width > most / height || decoded > options.max_pixels) {
    fail("the image is {} x {} pixels: expected at most {} million of a JPEG that is read at reduced size", width,
         height, most / 1000000);
  }
  take_pixels(height, width, std::max(decoded, height * width / kPassing), options);
}

Image blank_image(int64_t height, int64_t width) {
  return {height, width, std::vector<uint8_t>(static_cast<size_t>(height * width * 3))};
}

void lay_over_white(const uint8_t* rgba, int64_t pixels, uint8_t* rgb) {
  for (int64_t i = 0; i < pixels; ++i, rgba += 4) {
    const int alpha = rgba[3];
    for (int c = 0; c < 3; ++c) *rgb++ = static_cast<uint8_t>((rgba[c] * alpha + 255 * (255 - alpha) + 127) / 255);
  }
}

Image over_white(const uint8_t* rgba, int64_t height, int64_t width) {
  Image image = blank_image(height, width);
  lay_over_white(rgba, height * width, image.rgb.data());
  return image;
}

}  // namespace protocom::codec
