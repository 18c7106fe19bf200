#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// An upright 8-bit RGB image, rows top to bottom, pixels interleaved: [height, width, 3].
struct Image {
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> rgb;
};

/// How an image is decoded.
struct DecodeOptions {
  /// When > 0, the codec may decode at a reduced size as long as the shorter side stays at least this long: faster, same result
  /// after a resize to that size within the filter's tolerance. 0 decodes at full size.
  int64_t min_side = 0;
};

/// Decodes JPEG, PNG, WebP or BMP, told apart by their first bytes. Grey, palette, CMYK/YCCK, 16-bit, alpha (over white) and EXIF-rotated
/// images come out as upright 8-bit RGB. Throws Error with the reason ("truncated JPEG") but without a file name.
Image decode_image(std::string_view bytes, const DecodeOptions& options = {});

/// Reads and decodes a file; the Error names it.
Image read_image(const std::filesystem::path& path, const DecodeOptions& options = {});

/// The whole image resampled to height x width, antialiased.
Image resize(const Image& image, int64_t height, int64_t width);

/// The preprocessing of every stage: the shorter side resized to `size`, then the central size x size square.
Image resize_and_crop(const Image& image, int64_t size);

/// PNG bytes.
std::string encode_png(const Image& image);
/// JPEG bytes, quality 1..100.
std::string encode_jpeg(const Image& image, int quality);

}  // namespace protocom
