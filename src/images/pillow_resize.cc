#include "images/detail/pillow_resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace protocom {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int kFraction = 22;  // fractional bits of a weight

struct Filter {
  double support;
  double (*at)(double x);
};

double box_at(double x) { return x > -0.5 && x <= 0.5 ? 1 : 0; }
double triangle_at(double x) { return std::max(0.0, 1 - std::abs(x)); }

double hamming_at(double x) {
  x = std::abs(x);
  if (x == 0) return 1;
  if (x >= 1) return 0;
  return std::sin(kPi * x) / (kPi * x) * (0.54 + 0.46 * std::cos(kPi * x));
}

double cubic_at(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : 0;
}

double sinc(double x) { return x == 0 ? 1 : std::sin(kPi * x) / (kPi * x); }
double lanczos_at(double x) { return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0; }

Filter filter_of(Resampling resampling) {
  switch (resampling) {
    case Resampling::kBox:
      return {0.5, &box_at};
    case Resampling::kHamming:
      return {1, &hamming_at};
    case Resampling::kBicubic:
      return {2, &cubic_at};
    case Resampling::kLanczos:
      return {3, &lanczos_at};
    default:
      return {1, &triangle_at};
  }
}

/// The pixels and weights that make one position of the resized image.
struct Window {
  int64_t first;
  std::vector<int32_t> weights;
};

Window window_at(int64_t place, int64_t from, int64_t to, const Filter& filter) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double wide = std::max(scale, 1.0);  // shrinking widens the filter
  const double support = filter.support * wide;
  const double centre = (static_cast<double>(place) + 0.5) * scale;
  const auto nearest = [](double at) { return static_cast<int64_t>(std::floor(at + 0.5)); };
  const int64_t first = std::max<int64_t>(0, nearest(centre - support));
  const int64_t end = std::min(from, nearest(centre + support));
  std::vector<double> weights;
  double sum = 0;
  for (int64_t i = first; i < end; ++i) {
    weights.push_back(filter.at((static_cast<double>(i) - centre + 0.5) * (1 / wide)));
    sum += weights.back();
  }
  Window window{first, {}};
  for (const double weight : weights) {
    const double exact = (sum != 0 ? weight / sum : weight) * (1 << kFraction);
    window.weights.push_back(static_cast<int32_t>(exact + (exact < 0 ? -0.5 : 0.5)));
  }
  return window;
}

std::vector<Window> windows(int64_t begin, int64_t count, int64_t from, int64_t to, const Filter& filter) {
  std::vector<Window> all;
  for (int64_t i = begin; i < begin + count; ++i) all.push_back(window_at(i, from, to, filter));
  return all;
}

uint8_t rounded(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kFraction, 0, 255)); }

/// Resizes one row of pixels with the windows of columns.
void resize_row(const uint8_t* row, const std::vector<Window>& columns, uint8_t* out) {
  for (const Window& window : columns) {
    int32_t sums[3] = {1 << (kFraction - 1), 1 << (kFraction - 1), 1 << (kFraction - 1)};
    const uint8_t* pixel = row + 3 * window.first;
    for (const int32_t weight : window.weights) {
      for (int c = 0; c < 3; ++c) sums[c] += pixel[c] * weight;
      pixel += 3;
    }
    for (const int32_t sum : sums) *out++ = rounded(sum);
  }
}

/// Computes a row of the result from rows of its width.
void blend_rows(const uint8_t* rows, int64_t bytes, const Window& window, std::vector<int32_t>& sums, uint8_t* out) {
  std::fill(sums.begin(), sums.end(), 1 << (kFraction - 1));
  for (size_t i = 0; i < window.weights.size(); ++i) {
    const uint8_t* row = rows + (window.first + static_cast<int64_t>(i)) * bytes;
    const int32_t weight = window.weights[i];
    for (int64_t j = 0; j < bytes; ++j) sums[static_cast<size_t>(j)] += row[j] * weight;
  }
  for (int64_t j = 0; j < bytes; ++j) out[j] = rounded(sums[static_cast<size_t>(j)]);
}

void take_nearest(const Image& image, const ResizedPart& part, Image& out) {
  const auto place = [](int64_t at, int64_t from, int64_t to) {
    const double exact = (static_cast<double>(at) + 0.5) * static_cast<double>(from) / static_cast<double>(to);
    return std::min(from - 1, static_cast<int64_t>(exact));
  };
  for (int64_t y = 0; y < out.height; ++y) {
    const uint8_t* row = image.rgb.data() + 3 * image.width * place(part.top + y, image.height, part.height);
    for (int64_t x = 0; x < out.width; ++x) {
      const uint8_t* pixel = row + 3 * place(part.left + x, image.width, part.width);
      std::copy(pixel, pixel + 3, out.rgb.data() + 3 * (y * out.width + x));
    }
  }
}

}  // namespace

void resize_as_pillow(const Image& image, const ResizedPart& part, Resampling resampling, Image& out) {
  if (resampling == Resampling::kNearest) return take_nearest(image, part, out);
  const Filter filter = filter_of(resampling);
  const std::vector<Window> columns = windows(part.left, out.width, image.width, part.width, filter);
  std::vector<Window> rows = windows(part.top, out.height, image.height, part.height, filter);
  const int64_t first = rows.front().first;
  const int64_t end = rows.back().first + static_cast<int64_t>(rows.back().weights.size());
  const int64_t bytes = 3 * out.width;
  std::vector<uint8_t> narrow(static_cast<size_t>((end - first) * bytes));  // only the rows that are needed
  for (int64_t y = first; y < end; ++y)
    resize_row(image.rgb.data() + 3 * y * image.width, columns, narrow.data() + (y - first) * bytes);
  std::vector<int32_t> sums(static_cast<size_t>(bytes));
  for (int64_t y = 0; y < out.height; ++y) {
    Window& row = rows[static_cast<size_t>(y)];
    row.first -= first;
    blend_rows(narrow.data(), bytes, row, sums, out.rgb.data() + y * bytes);
  }
}

}  // namespace protocom
