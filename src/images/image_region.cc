#include "images/image_region.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "images/other_media.h"
#include "io/files.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMark = "#xywh=";
constexpr std::string_view kPercent = "percent:";
constexpr std::string_view kPixel = "pixel:";
constexpr std::string_view kMarginMark = "&margin=";
constexpr std::array<uint8_t, 3> kAround = {124, 116, 104};  // ImageNet's mean

/// Cuts the margin off the end of a fragment's numbers: the default if there is none, nothing if it is out of range.
std::optional<double> take_margin(std::string& numbers) {
  const size_t mark = numbers.find(kMarginMark);
  if (mark == std::string::npos) return v0::kBoxMargin;
  const std::optional<double> margin = number_from<double>(numbers.substr(mark + kMarginMark.size()));
  numbers.erase(mark);
  return margin && *margin >= 0 && *margin <= 1 ? margin : std::nullopt;
}

/// Parses four numbers separated by commas, and nothing else.
std::optional<std::array<double, 4>> four_numbers(const std::string& text) {
  std::array<double, 4> numbers{};
  const char* at = text.data();
  const char* end = at + text.size();
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && (at == end || *at++ != ',')) return std::nullopt;
    const auto read = std::from_chars(at, end, numbers[i]);
    if (read.ec != std::errc()) return std::nullopt;
    at = read.ptr;
  }
  return at == end ? std::optional(numbers) : std::nullopt;
}

/// Formats a number without trailing zeros.
std::string number_text(double value) {
  std::string text = fmt::format("{:.6f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string fragment_of(const ImageBox& box) {
  const double unit = box.relative ? 100 : 1;
  return fmt::format("{}{}{},{},{},{}{}", kMark, box.relative ? kPercent : "", number_text(unit * box.x),
                     number_text(unit * box.y), number_text(unit * box.width), number_text(unit * box.height),
                     box.margin == v0::kBoxMargin ? "" : std::string(kMarginMark) + number_text(box.margin));
}

bool begins_with(const std::string& text, std::string_view begin) { return text.compare(0, begin.size(), begin) == 0; }

constexpr int64_t kLargestSquare = 4096;  // pixels; encoders take a few hundred

/// The part of a side that is used: its first pixel, how many, and how many are missing before them.
struct Span {
  int64_t first, count, before;
};

/// Returns the span of `length` pixels around `centre` within `whole`, moved inside; a longer one gets margins.
Span span_around(double centre, int64_t length, int64_t whole) {
  if (length >= whole) {
    const auto before = static_cast<int64_t>(std::llround(static_cast<double>(length) / 2 - centre));
    return {0, whole, std::clamp<int64_t>(before, 0, length - whole)};
  }
  const auto first = static_cast<int64_t>(std::llround(centre - static_cast<double>(length) / 2));
  return {std::clamp<int64_t>(first, 0, whole - length), length, 0};
}

/// Returns the options for decoding: the codec may shrink the picture as long as the box keeps the encoder's
/// resolution.
DecodeOptions options_for_box(const ImageBox& box, const Preprocessing& preprocessing) {
  DecodeOptions options;
  if (!box.relative) return options;
  const double longer = std::min(1.0, std::max(box.width, box.height));
  const double side = 2 * static_cast<double>(preprocessing.shorter_side()) / longer;
  options.min_side = static_cast<int64_t>(std::min(side, 1e6));
  return options;
}

Image read_box(std::string_view bytes, const ImageBox& box, const Preprocessing& preprocessing) {
  const auto [image, size] = decode_image_and_size(bytes, options_for_box(box, preprocessing));
  return resize_and_crop(square_around(image, box, size), preprocessing);
}

}  // namespace

ImageRegion region_of(const fs::path& name) {
  const std::string text = name.string();
  const size_t mark = text.rfind(kMark);
  std::error_code ignored;
  if (mark == std::string::npos || mark == 0 || fs::exists(name, ignored)) return {name};
  std::string numbers = text.substr(mark + kMark.size());
  const bool relative = begins_with(numbers, kPercent);
  if (relative || begins_with(numbers, kPixel)) numbers.erase(0, numbers.find(':') + 1);
  const std::optional<double> margin = take_margin(numbers);
  const auto found = four_numbers(numbers);
  if (!found || !margin) return {name};
  const double unit = relative ? 0.01 : 1;
  const auto [x, y, width, height] = *found;
  return {text.substr(0, mark), ImageBox{unit * x, unit * y, unit * width, unit * height, relative, *margin}};
}

fs::path name_of(const ImageRegion& region) {
  return region.box ? fs::path(region.file.string() + fragment_of(*region.box)) : region.file;
}

std::string wrong_box(const ImageBox& box) {
  for (const double value : {box.x, box.y, box.width, box.height}) {
    if (!std::isfinite(value)) return "a box with a number that cannot be read or is not finite";
    if (std::abs(value) > 1e9) return "a box with a number beyond every picture";
  }
  if (box.width <= 0 || box.height <= 0)
    return fmt::format("a box of no size, {} x {}", number_text(box.width), number_text(box.height));
  const double right = box.x + box.width, bottom = box.y + box.height;
  if (right <= 0 || bottom <= 0 || (box.relative && (box.x >= 1 || box.y >= 1))) return "a box outside the image";
  return "";
}

Image square_around(const Image& image, const ImageBox& box, const ImageSize& size) {
  const std::string wrong = wrong_box(box);
  if (!wrong.empty()) fail("{}", wrong);
  const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
  const double per_x = box.relative ? width : width / static_cast<double>(size.width);
  const double per_y = box.relative ? height : height / static_cast<double>(size.height);
  const double left = std::max(0.0, box.x * per_x), right = std::min(width, (box.x + box.width) * per_x);
  const double top = std::max(0.0, box.y * per_y), bottom = std::min(height, (box.y + box.height) * per_y);
  if (left >= right || top >= bottom)
    fail("a box outside the image, which has {} x {} pixels", size.width, size.height);
  const double longer = std::max(right - left, bottom - top);
  const auto side = std::max<int64_t>(1, std::llround(longer * (1 + 2 * box.margin)));
  const int64_t most = std::max(image.width, image.height);
  const int64_t taken = std::min(side, most);
  const Span across = span_around((left + right) / 2, taken, image.width);
  const Span down = span_around((top + bottom) / 2, taken, image.height);
  if (taken > kLargestSquare) {  // a strip of 20,000 x 1 pixels would take 1.2 GB
    const double shrink = 0.5 * static_cast<double>(kLargestSquare) / static_cast<double>(taken);
    const auto shorter = [&](int64_t length) {
      return std::max<int64_t>(1, std::llround(static_cast<double>(length) * shrink));
    };
    return square_around(resize(image, shorter(image.height), shorter(image.width)), box, size);
  }
  Image square{taken, taken, std::vector<uint8_t>(static_cast<size_t>(3 * taken * taken))};
  for (size_t i = 0; i < square.rgb.size(); ++i) square.rgb[i] = kAround[i % kAround.size()];
  for (int64_t y = 0; y < down.count; ++y) {
    const auto row = image.rgb.begin() + 3 * ((down.first + y) * image.width + across.first);
    std::copy(row, row + 3 * across.count, square.rgb.begin() + 3 * ((down.before + y) * taken + across.before));
  }
  return square;
}

std::string region_hash(const std::string& file_hash, const ImageRegion& region) {
  return region.box ? hash_bytes(file_hash + fragment_of(*region.box)) : file_hash;
}

ReadRegion read_region(const fs::path& name, const Preprocessing& preprocessing) {
  const ImageRegion region = region_of(name);
  refuse_other_media(region.file);
  const std::string bytes = read_file(region.file);
  try {
    const std::string hash = region_hash(hash_bytes(bytes), region);
    if (!region.box) return {decode_square_image(bytes, preprocessing), hash};
    return {read_box(bytes, *region.box, preprocessing), hash};
  } catch (const Error& error) {
    fail("{}: {}", name.string(), error.what());
  }
}

}  // namespace protocom
