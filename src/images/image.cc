#include "images/image.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/error.h"
#include "base/log.h"
#include "images/codec.h"
#include "images/image_region.h"
#include "images/skipped_files.h"
#include "io/files.h"

namespace protocom {
namespace {

/// Returns what a file that is not an image is, by its first bytes; empty: unknown.
std::string_view found_instead(std::string_view bytes) {
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"<!DOCTYPE html", "a page of HTML, as a failed download leaves it"},
      {"<!doctype html", "a page of HTML, as a failed download leaves it"},
      {"<html", "a page of HTML, as a failed download leaves it"},
      {"version https://git-lfs", "a Git LFS pointer, not the image itself: run `git lfs pull`"},
      {"<?xml", "XML or an SVG drawing: export it as PNG"},
      {"<svg", "an SVG drawing: export it as PNG"},
      {"%PDF", "a PDF: export its pages as PNG"},
      {"PK\x03\x04", "a zip archive: unpack it first"},
      {"8BPS", "a Photoshop file: export it as PNG or TIFF"},
      {"\x89HDF", "an HDF5 file"},
  };
  for (const auto& [mark, what] : kOthers) {
    if (bytes.substr(0, mark.size()) == mark) return what;
  }
  return "";
}

codec::Decoded decode_stored(std::string_view bytes, const DecodeOptions& options) {
  if (bytes.empty()) fail("the file is empty");
  const codec::Codec* codec = codec::codec_of(bytes);
  if (codec != nullptr) return codec->decode(bytes, options);
  const std::string_view instead = found_instead(bytes);
  if (!instead.empty()) fail("expected a {}, found {}", image_kinds(), instead);
  if (bytes.size() > 4 && bytes.substr(4, 4) == "ftyp") fail("a video, or an unsupported HEIF; expected HEIC or AVIF");
  fail("it is not a {} by its first bytes", image_kinds());
}

/// Returns the options for decoding. A requested filter needs pixels to work on: if a codec shrinks to little more than
/// the size, the result is blurred.
DecodeOptions options_for(const Preprocessing& preprocessing) {
  const bool usual = preprocessing.resampling == Resampling::kBilinear;
  DecodeOptions options;
  options.min_side = (usual ? 1 : 2) * preprocessing.shorter_side();
  return options;
}

std::atomic<int64_t> largest{int64_t{1} << 27};

/// Returns the size stated by a codec that has reduced the image; otherwise the decoded size.
ImageSize upright_size(const codec::Decoded& decoded) {
  ImageSize size = decoded.stored;
  if (size.height == 0) size = {decoded.image.height, decoded.image.width};
  if (decoded.orientation >= 5) std::swap(size.height, size.width);
  return size;
}

struct UprightImage {
  Image image;
  ImageSize size;  // in the file
  bool is_preview;
};

UprightImage decode_upright(std::string_view bytes, const DecodeOptions& options) {
  codec::Decoded decoded = decode_stored(bytes, options);
  codec::to_srgb(decoded.image, decoded.profile);
  const ImageSize size = upright_size(decoded);
  return {codec::turn_upright(std::move(decoded.image), decoded.orientation), size, decoded.is_preview};
}

/// Warns once per process: a folder of raw photos usually has many with small previews.
void warn_of_small_preview(const ImageSize& size, int64_t side) {
  static std::once_flag warned;
  if (std::min(size.height, size.width) >= side) return;
  std::call_once(warned, [&] {
    logger().warn(
        "a camera's raw photo has a preview of only {} x {} pixels, fewer than the encoder's {} x {}: export such "
        "photos as JPEG",
        size.width, size.height, side, side);
  });
}

}  // namespace

int64_t largest_image() { return largest.load(std::memory_order_relaxed); }

void set_largest_image(int64_t pixels) {
  if (pixels < 1) fail_usage("limit of pixels: expected at least 1, found {}", pixels);
  largest.store(pixels, std::memory_order_relaxed);
}

std::pair<Image, ImageSize> decode_image_and_size(std::string_view bytes, const DecodeOptions& options) {
  UprightImage upright = decode_upright(bytes, options);
  return {std::move(upright.image), upright.size};
}

Image decode_image(std::string_view bytes, const DecodeOptions& options) {
  return decode_image_and_size(bytes, options).first;
}

Image read_image(const std::filesystem::path& path, const DecodeOptions& options) {
  const std::string bytes = read_file(path);
  try {
    return decode_image(bytes, options);
  } catch (const Error& error) {
    fail("{}: {}", path.string(), error.what());
  }
}

Image decode_square_image(std::string_view bytes, const Preprocessing& preprocessing) {
  const UprightImage upright = decode_upright(bytes, options_for(preprocessing));
  if (upright.is_preview) warn_of_small_preview(upright.size, preprocessing.shorter_side());
  return resize_and_crop(upright.image, preprocessing);
}

Image read_square_image(const std::filesystem::path& path, const Preprocessing& preprocessing) {
  return read_region(path, preprocessing).image;
}

}  // namespace protocom
