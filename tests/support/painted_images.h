#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "images/image.h"
#include "support/message_of.h"

namespace protocom::testing {

using Pixel = std::vector<int>;

inline Pixel pixel(const Image& image, int64_t y, int64_t x) {
  const auto* p = image.rgb.data() + 3 * (y * image.width + x);
  return {p[0], p[1], p[2]};
}

inline Image painted(int64_t height, int64_t width, const std::function<Pixel(int64_t, int64_t)>& colour) {
  Image image{height, width, {}};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (const int value : colour(y, x)) image.rgb.push_back(static_cast<uint8_t>(value));
    }
  }
  return image;
}

/// Smooth, so that lossy codecs nearly preserve it, and different in every direction and channel.
inline Image ramp(int64_t height, int64_t width) {
  return painted(height, width, [&](int64_t y, int64_t x) {
    return Pixel{static_cast<int>(255 * x / width), static_cast<int>(255 * y / height),
                 static_cast<int>(128 + 64 * x / width)};
  });
}

inline double mean_difference(const Image& a, const Image& b) {
  EXPECT_EQ(a.height, b.height);
  EXPECT_EQ(a.width, b.width);
  if (a.rgb.size() != b.rgb.size() || a.rgb.empty()) return 255;
  double sum = 0;
  for (size_t i = 0; i < a.rgb.size(); ++i) sum += std::abs(a.rgb[i] - b.rgb[i]);
  return sum / static_cast<double>(a.rgb.size());
}

inline int largest_difference(const Image& a, const Image& b) {
  EXPECT_EQ(a.rgb.size(), b.rgb.size());
  int largest = 0;
  for (size_t i = 0; i < std::min(a.rgb.size(), b.rgb.size()); ++i)
    largest = std::max(largest, std::abs(a.rgb[i] - b.rgb[i]));
  return largest;
}

inline std::string decode_error(const std::string& bytes) {
  return message_of([&] { decode_image(bytes); });
}

}  // namespace protocom::testing
