#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "images/preprocessing.h"

namespace protocom {

/// An upright 8-bit RGB image, rows top to bottom, pixels interleaved: [height, width, 3].
struct Image {
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> rgb;
};

/// DecodeOptions::max_pixels by default: 2^27, unless set_largest_image() was called.
int64_t largest_image();
/// Sets it for all threads of this process. Throws UsageError unless it is positive.
void set_largest_image(int64_t pixels);

/// How an image is decoded.
struct DecodeOptions {
  /// When > 0, JPEG and WebP may be decoded at 1/2, 1/4 or 1/8 of their size as long as the shorter side stays at least
  /// this long: faster, and the same after a resize to that size within the filters' tolerance. 0 decodes at full size.
  int64_t min_side = 0;
  /// An image of which more would be decoded is refused before any memory is set aside for it. A JPEG that is decoded
  /// at reduced size (min_side) may say four times that, unless it is progressive, which is held whole.
  int64_t max_pixels = largest_image();
  /// For several images that share a budget: each takes its pixels from it before it is decoded, and one that finds
  /// fewer is refused and leaves it below 0. nullptr: none.
  int64_t* pixels_left = nullptr;
};

/// Decodes an image of the kinds that image_kinds() names, distinguished by their first bytes; of an animation the
/// first frame. Grey, palette, CMYK/YCCK, 16-bit, alpha (over white) and EXIF-rotated images come out as upright 8-bit
/// RGB, in sRGB's colours. Throws Error with the reason ("truncated JPEG", "the file is empty") but without a file
/// name. Thread-safe.
Image decode_image(std::string_view bytes, const DecodeOptions& options = {});

/// The size of an image as its file has it, upright: larger than what is decoded at a reduced one.
struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
};

/// The same as decode_image, and the size that the file has.
std::pair<Image, ImageSize> decode_image_and_size(std::string_view bytes, const DecodeOptions& options = {});

/// Reads and decodes a file whatever its suffix; the Error names it. Thread-safe.
Image read_image(const std::filesystem::path& path, const DecodeOptions& options = {});

/// The whole image resampled to height x width by the triangle filter, widened when shrinking (antialiased): PIL's and
/// torchvision's bilinear resize, up to rounding and to the pixels at the border. Throws UsageError unless both sizes
/// are positive.
Image resize(const Image& image, int64_t height, int64_t width);

/// The preprocessing of every stage: the shorter side resized to that of an encoder's preprocessing, the other one to
/// the nearest whole number of the same ratio, then the central square of its image size, Preprocessing{84} for
/// instance. No normalisation. By another filter than bilinear it is to the bit what Pillow and torchvision give, whose
/// other side is rounded down. Where the preprocessing squeezes, both sides become that long. Throws UsageError unless
/// the size is positive and no larger than the shorter side.
Image resize_and_crop(const Image& image, const Preprocessing& preprocessing);

/// read_image and resize_and_crop with the codec's own down-scaling: what packing, enrolment and classification do to a
/// file.
Image read_square_image(const std::filesystem::path& path, const Preprocessing& preprocessing);
/// The same for an encoded image in memory.
Image decode_square_image(std::string_view bytes, const Preprocessing& preprocessing);

/// PNG bytes.
std::string encode_png(const Image& image);
/// JPEG bytes, quality 1..100.
std::string encode_jpeg(const Image& image, int quality);

}  // namespace protocom
