#pragma once
#include <csetjmp>
#include <string>
#include <string_view>
#include <utility>

#include "protocom/core/error.h"
#include "protocom/data/image.h"

namespace protocom::codec {

/// What a codec hands back: the stored pixels, the EXIF orientation (1..8) that says how to turn them upright, and the
/// ICC profile that says which colours they are; empty: sRGB's.
struct Decoded {
  Image image;
  int orientation = 1;
  std::string profile = {};
};

/// Each throws Error with the reason, without a file name.
Decoded decode_jpeg(std::string_view bytes, const DecodeOptions& options);
Decoded decode_png(std::string_view bytes, const DecodeOptions& options);
Decoded decode_webp(std::string_view bytes, const DecodeOptions& options);
/// The first frame, clear places white.
Decoded decode_gif(std::string_view bytes, const DecodeOptions& options);
Decoded decode_tiff(std::string_view bytes, const DecodeOptions& options);
/// HEIC and AVIF.
Decoded decode_heif(std::string_view bytes, const DecodeOptions& options);
/// Whether decode_heif knows the brand: other files of that container are videos.
bool is_heif(std::string_view bytes);
Decoded decode_bmp(std::string_view bytes, const DecodeOptions& options);

/// The orientation (1..8) in EXIF data, with or without the "Exif" mark in front; 1 when it says nothing or nonsense.
int exif_orientation(std::string_view exif);

/// The stored image turned upright: `orientation` says where its first row and column belong (EXIF 2.32, tag 0x0112).
Image turn_upright(Image image, int orientation);

/// Converts an image from the colours of an ICC profile to sRGB's, which encoders were trained on. Leaves it as it is
/// for a profile of sRGB, of other colours than RGB, or a damaged one. Thread-safe.
void to_srgb(Image& image, std::string_view profile);
/// The profile of Display P3, which phones write.
std::string display_p3_profile();

/// The largest of 1, 2, 4, 8 by which an image can shrink (sides rounded up) with its shorter side at least
/// options.min_side.
int64_t reduction(int64_t height, int64_t width, const DecodeOptions& options);

/// Throws Error unless the size is positive and within options.max_pixels, and takes it from options.pixels_left.
void check_size(int64_t height, int64_t width, const DecodeOptions& options);

/// An image of that size, its pixels zero.
Image blank_image(int64_t height, int64_t width);

/// RGBA pixels over white, into so many times three bytes.
void lay_over_white(const uint8_t* rgba, int64_t pixels, uint8_t* rgb);

/// The same as an image.
Image over_white(const uint8_t* rgba, int64_t height, int64_t width);

/// Where a C codec jumps to on an error, since exceptions must not cross its frames.
struct ErrorTrap {
  std::jmp_buf jump;
  char message[256] = "";
};

/// Runs `body`, which calls into the C codec and leaves by std::longjmp(trap.jump, 1) on an error; throws
/// `trap.message` then. Nothing in `body` may have a destructor, because the jump would skip it.
template <typename Body>
void run_trapped(ErrorTrap& trap, Body&& body) {
  if (setjmp(trap.jump) != 0) throw Error(trap.message);
  std::forward<Body>(body)();
}

}  // namespace protocom::codec
