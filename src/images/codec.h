#pragma once
#include <array>
#include <csetjmp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "images/image.h"

namespace protocom::codec {

/// The result of a codec: the stored pixels, the EXIF orientation for turning them upright (1..8; 0: not stated), and
/// the ICC profile of their colours; empty: sRGB.
struct Decoded {
  Image image;
  int orientation = 1;
  std::string profile = {};
  ImageSize stored = {};    ///< the size in the file, if the image was decoded at a reduced one
  bool is_preview = false;  ///< from a camera's raw photo, which may be much larger
};

/// All of these throw Error with the reason, without a file name.
Decoded decode_jpeg(std::string_view bytes, const DecodeOptions& options);
Decoded decode_png(std::string_view bytes, const DecodeOptions& options);
Decoded decode_webp(std::string_view bytes, const DecodeOptions& options);
/// Decodes the first frame, transparent pixels as white.
Decoded decode_gif(std::string_view bytes, const DecodeOptions& options);
Decoded decode_tiff(std::string_view bytes, const DecodeOptions& options);
/// Decodes HEIC and AVIF.
Decoded decode_heif(std::string_view bytes, const DecodeOptions& options);
/// Whether decode_heif supports the brand: other files with that container are videos.
bool is_heif(std::string_view bytes);
Decoded decode_bmp(std::string_view bytes, const DecodeOptions& options);
/// Decodes three channels or one, of any precision, or a palette.
Decoded decode_jpeg_2000(std::string_view bytes, const DecodeOptions& options);
/// Throws Error if the boxes and headers of a JPEG 2000 (ISO/IEC 15444-1, annexes A and I), in boxes or as a
/// codestream, require more memory than its pixels: OpenJPEG allocates memory for every tile in the header's grid, for
/// every precinct, code block and layer of the tile that it decodes, and for every channel of a palette. Headers of
/// tiles are checked too, since each may override these. Reads only headers; decodes no pixel.
void check_jpeg_2000_structure(std::string_view bytes);
/// Decodes the first frame of an animation.
Decoded decode_jpeg_xl(std::string_view bytes, const DecodeOptions& options);

/// Whether the file is a camera's raw photo that does not begin as other TIFF does: CR2, CR3, ORF, RAF, RW2, X3F.
bool is_raw(std::string_view bytes);
/// Decodes these by their previews: see decode_preview().
Decoded decode_raw(std::string_view bytes, const DecodeOptions& options);

/// Information in a file about a raw photo besides its preview.
struct RawPhoto {
  int orientation = 0;               ///< as in Decoded
  std::vector<uint64_t> tiles = {};  ///< where the parts of the raw image itself begin, which may be JPEG, ascending
};

/// Decodes the largest JPEG in a raw photo of any kind, as photo programs show it, or the next one that can be decoded:
/// the raw pixels are not developed. It is turned as the JPEG itself states, else as the photo. Nothing if there is
/// none. Throws Error if the four largest ones are damaged or too large.
///
/// JPEGs are searched for, so that one method reads all formats, whose structures are unpublished. LibRaw, which knows
/// these, is not used: a DNG can make its version 0.20, of Debian 12, write outside of its memory.
std::optional<Decoded> decode_preview(std::string_view bytes, const RawPhoto& raw, const DecodeOptions& options);

/// The error if there is none.
constexpr const char* kNoPreview = "the raw photo has no preview: export it as JPEG";

/// The parts of EXIF data, which a CR3 has in boxes of their own.
enum class ExifPart { kImage, kCapture };

/// Returns the EXIF data of TIFF and of raw photos similar to it, up to 64 KiB, from the TIFF header on; empty: none.
std::string exif_of_raw(std::string_view bytes, ExifPart part);

/// An image format: its name in messages, its file suffixes in lower case, how to recognise its first bytes, and how to
/// decode it. A new format needs a row in the table in codec_table.cc.
struct Codec {
  std::string_view kind;
  std::array<std::string_view, 12> suffixes;
  bool (*is)(std::string_view bytes);
  Decoded (*decode)(std::string_view bytes, const DecodeOptions& options);
};

/// Returns the codec that reads these bytes; nullptr: none does.
const Codec* codec_of(std::string_view bytes);
/// Whether image files have that suffix: ".jpg", in lower case.
bool is_image_suffix(std::string_view suffix);
/// Whether cameras' raw photos have that suffix, including those that begin as TIFF.
bool is_raw_suffix(std::string_view suffix);

/// Returns the orientation (1..8) in EXIF data, with or without the "Exif" mark in front; 0 if it is missing or
/// invalid.
int exif_orientation(std::string_view exif);

/// Turns a stored image upright: `orientation` is the position of its first row and column (EXIF 2.32, tag 0x0112).
Image turn_upright(Image image, int orientation);

/// Converts an image from the colours of an ICC profile to sRGB, on which encoders were trained. Leaves it unchanged
/// for a profile of sRGB, of other colours than RGB, or a damaged one. Thread-safe.
void to_srgb(Image& image, std::string_view profile);
/// Returns the profile of Display P3, which phones write.
std::string display_p3_profile();

/// Returns the largest of 1, 2, 4, 8 by which an image can shrink (sides rounded up) with its shorter side at least
/// options.min_side.
int64_t reduction(int64_t height, int64_t width, const DecodeOptions& options);

/// Throws Error unless the size is positive and within options.max_pixels, and subtracts it from options.pixels_left.
void check_size(int64_t height, int64_t width, const DecodeOptions& options);

/// Does the same if `decoded` pixels are made from an image of that size, which is read strip by strip: `decoded`
/// pixels are in memory, while time depends on the image, each pixel of which counts a quarter.
void check_reduced_size(int64_t height, int64_t width, int64_t decoded, const DecodeOptions& options);

/// Returns an image of that size with all pixels zero.
Image blank_image(int64_t height, int64_t width);

/// Blends RGBA pixels with white into three bytes per pixel.
void lay_over_white(const uint8_t* rgba, int64_t pixels, uint8_t* rgb);

/// Returns them as an image.
Image over_white(const uint8_t* rgba, int64_t height, int64_t width);

/// The target of a C codec's jump on an error, since exceptions must not cross its frames.
struct ErrorTrap {
  std::jmp_buf jump;
  char message[256] = "";
};

/// Runs `body`, which calls the C codec and leaves by std::longjmp(trap.jump, 1) on an error; throws `trap.message`
/// then. Nothing in `body` may have a destructor, because the jump would skip it.
template <typename Body>
void run_trapped(ErrorTrap& trap, Body&& body) {
  if (setjmp(trap.jump) != 0) throw Error(trap.message);
  std::forward<Body>(body)();
}

}  // namespace protocom::codec
