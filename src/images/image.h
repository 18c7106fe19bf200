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

/// Default of DecodeOptions::max_pixels: 2^27, unless set_largest_image() was called.
int64_t largest_image();
/// Sets it for all threads of this process. Throws UsageError unless it is positive.
void set_largest_image(int64_t pixels);

/// Options for decoding an image.
struct DecodeOptions {
  /// If > 0, JPEG and WebP may be decoded at 1/2, 1/4 or 1/8 of their size as long as the shorter side stays at least
  /// this long: faster, and equal after a resize to that size within the filters' tolerance. 0 decodes at full size.
  int64_t min_side = 0;
  /// Images with more decoded pixels are refused before any memory is allocated. A JPEG that is decoded at reduced size
  /// (min_side) may state four times that, unless it is progressive, which is kept whole.
  int64_t max_pixels = largest_image();
  /// A budget shared by several images: each is charged its pixels before it is decoded, and one that exceeds the rest
  /// is refused and leaves it negative. nullptr: none.
  int64_t* pixels_left = nullptr;
};

/// Decodes an image of any format in image_kinds(), recognised by its first bytes; of an animation the first frame.
/// Grey, palette, CMYK/YCCK, 16-bit, alpha (over white) and EXIF-rotated images are converted to upright 8-bit sRGB.
/// Throws Error with the reason ("truncated JPEG", "the file is empty") but without a file name. Thread-safe.
Image decode_image(std::string_view bytes, const DecodeOptions& options = {});

/// The size of an image in its file, upright: larger than the decoded one if that was reduced.
struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
};

/// Does the same as decode_image, and returns the size in the file.
std::pair<Image, ImageSize> decode_image_and_size(std::string_view bytes, const DecodeOptions& options = {});

/// Reads and decodes a file whatever its suffix; the Error names it. Thread-safe.
Image read_image(const std::filesystem::path& path, const DecodeOptions& options = {});

/// Resamples the whole image to height x width with the triangle filter, widened when shrinking (antialiased): PIL's
/// and torchvision's bilinear resize, up to rounding and to the pixels at the border. Throws UsageError unless both
/// sizes are positive.
Image resize(const Image& image, int64_t height, int64_t width);

/// The geometric preprocessing used in every stage: resizes the shorter side to that of an encoder's preprocessing, the
/// other one to the nearest whole number of the same ratio, then crops the central square of its image size, e.g. for
/// Preprocessing{84}. No normalisation. With another filter than bilinear it is bit-identical to Pillow and
/// torchvision, which round the other side down. If the preprocessing squeezes, both sides get that length. Throws
/// UsageError unless the size is positive and no larger than the shorter side.
Image resize_and_crop(const Image& image, const Preprocessing& preprocessing);

/// Applies read_image and resize_and_crop with the codec's own down-scaling: how packing, enrolment and classification
/// prepare a file.
Image read_square_image(const std::filesystem::path& path, const Preprocessing& preprocessing);
/// Does so for an encoded image in memory.
Image decode_square_image(std::string_view bytes, const Preprocessing& preprocessing);

/// Encodes an image as PNG.
std::string encode_png(const Image& image);
/// Encodes an image as JPEG, quality 1..100.
std::string encode_jpeg(const Image& image, int quality);

}  // namespace protocom
