#define STB_IMAGE_RESIZE_IMPLEMENTATION
#define STB_IMAGE_RESIZE_STATIC
// stb_image_resize asserts that a filter's weights sum to 1 within 10 % before it normalises them; the triangle's sum
// to 1.11 when shrinking by 1.5.
#define STBIR_ASSERT(condition) static_cast<void>(condition)
#include <stb_image_resize.h>

#include <algorithm>
#include <new>

#include "base/error.h"
#include "images/codec.h"
#include "images/detail/pillow_resize.h"

namespace protocom {
namespace {

struct Size {
  int64_t height, width;
};

/// Computes only the part of an image of `whole` size that begins at `top`, `left` and has the size of `out`.
void resample(const Image& image, Size whole, int64_t top, int64_t left, Image& out) {
  const auto integer = [](int64_t value) { return static_cast<int>(value); };
  const float scale_x = static_cast<float>(static_cast<double>(whole.width) / static_cast<double>(image.width));
  const float scale_y = static_cast<float>(static_cast<double>(whole.height) / static_cast<double>(image.height));
  const int done = stbir_resize_subpixel(image.rgb.data(), integer(image.width), integer(image.height), 0,
                                         out.rgb.data(), integer(out.width), integer(out.height), 0, STBIR_TYPE_UINT8,
                                         3, STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP, STBIR_EDGE_CLAMP,
                                         STBIR_FILTER_TRIANGLE, STBIR_FILTER_TRIANGLE, STBIR_COLORSPACE_LINEAR, nullptr,
                                         scale_x, scale_y, static_cast<float>(left), static_cast<float>(top));
  if (done == 0) throw std::bad_alloc();
}

Image cut(const Image& image, int64_t top, int64_t left, Size size) {
  Image part = codec::blank_image(size.height, size.width);
  for (int64_t y = 0; y < size.height; ++y) {
    const auto row = image.rgb.begin() + 3 * ((top + y) * image.width + left);
    std::copy(row, row + 3 * size.width, part.rgb.begin() + 3 * y * size.width);
  }
  return part;
}

}  // namespace

Image resize(const Image& image, int64_t height, int64_t width) {
  if (height < 1 || width < 1) fail_usage("an image cannot be resized to {} x {}", width, height);
  if (height == image.height && width == image.width) return image;
  Image out = codec::blank_image(height, width);
  resample(image, {height, width}, 0, 0, out);
  return out;
}

Image resize_and_crop(const Image& image, const Preprocessing& preprocessing) {
  const int64_t size = preprocessing.image_size;
  const int64_t resized = preprocessing.shorter_side();
  if (size < 1 || resized < size) fail_usage("an image cannot be resized to {0} and cut to {1} x {1}", resized, size);
  const int64_t shorter = std::min(image.height, image.width);
  const bool as_pillow = preprocessing.resampling != Resampling::kBilinear;
  const auto scaled = [&](int64_t side) {
    return as_pillow ? side * resized / shorter : (2 * side * resized + shorter) / (2 * shorter);
  };
  const Size whole = preprocessing.squeeze ? Size{resized, resized} : Size{scaled(image.height), scaled(image.width)};
  const int64_t top = (whole.height - size) / 2;
  const int64_t left = (whole.width - size) / 2;
  if (whole.height == image.height && whole.width == image.width) return cut(image, top, left, {size, size});
  Image out = codec::blank_image(size, size);
  if (as_pillow)
    resize_as_pillow(image, {whole.height, whole.width, top, left}, preprocessing.resampling, out);
  else
    resample(image, whole, top, left, out);
  return out;
}

}  // namespace protocom
