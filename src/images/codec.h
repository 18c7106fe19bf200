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

/// What a codec hands back: the stored pixels, the EXIF orientation (1..8; 0: none is stated), by which they are turned
/// upright, and the ICC profile of their colours; empty: sRGB.
struct Decoded {
  Image image;
  int orientation = 1;
  std::string profile = {};
  ImageSize stored = {};    ///< the size in the file, where the image was decoded at a reduced one
  bool is_preview = false;  ///< of a camera's raw photo, which may be much larger
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
/// Whether decode_heif supports the brand: other files of that container are videos.
bool is_heif(std::string_view bytes);
Decoded decode_bmp(std::string_view bytes, const DecodeOptions& options);
/// Three channels or one, of any precision; a palette too.
Decoded decode_jpeg_2000(std::string_view bytes, const DecodeOptions& options);
/// Throws Error if the boxes and headers of a JPEG 2000 (ISO/IEC 15444-1, annexes A and I), in boxes or alone, ask
/// for more than its pixels need: OpenJPEG takes memory for every tile that the grid of the header has, for every
/// precinct, code block and layer of the tile that it decodes, and for every channel of a palette. The headers of tiles
/// are looked at too, for each may state these again. Reads headers alone: no pixel is decoded.
void check_jpeg_2000_structure(std::string_view bytes);
/// The first frame of an animated one.
Decoded decode_jpeg_xl(std::string_view bytes, const DecodeOptions& options);

/// Cameras' raw photos that do not begin as other TIFF does: CR2, CR3, ORF, RAF, RW2, X3F.
bool is_raw(std::string_view bytes);
/// Of these, by their previews: see decode_preview().
Decoded decode_raw(std::string_view bytes, const DecodeOptions& options);

/// What a file says about a raw photo besides its preview.
struct RawPhoto {
  int orientation = 0;               ///< as in Decoded
  std::vector<uint64_t> tiles = {};  ///< where the parts of the raw image itself begin, which may be JPEG, ascending
};

/// The largest JPEG in a raw photo of any kind, as photo programs show it, or the next one that can be decoded: the raw
/// pixels are not developed. Turned as the JPEG itself states, else as the photo. Nothing if there is none. Throws
/// Error if the four largest ones are damaged or too large.
///
/// JPEGs are searched for, so that one way reads all formats, whose structures are unpublished. LibRaw, which knows
/// these, is not used: a DNG can make its version 0.20, of Debian 12, write outside of its memory.
std::optional<Decoded> decode_preview(std::string_view bytes, const RawPhoto& raw, const DecodeOptions& options);

/// Says that there is none.
constexpr const char* kNoPreview = "the raw photo has no preview: export it as JPEG";

/// A CR3 has both in boxes of their own.
enum class ExifPart { kImage, kCapture };

/// The EXIF data of TIFF and of raw photos similar to it, up to 64 KiB, from the TIFF header on; empty: none.
std::string exif_of_raw(std::string_view bytes, ExifPart part);

/// A kind of image: what messages call it, the suffixes of its files in small letters, how to tell it by its first
/// bytes, and how to read it. Adding a kind is adding a row to the table in codec_table.cc.
struct Codec {
  std::string_view kind;
  std::array<std::string_view, 12> suffixes;
  bool (*is)(std::string_view bytes);
  Decoded (*decode)(std::string_view bytes, const DecodeOptions& options);
};

/// The codec that reads these bytes; nullptr: none does.
const Codec* codec_of(std::string_view bytes);
/// Whether files of images have that suffix: ".jpg", in small letters.
bool is_image_suffix(std::string_view suffix);
/// Whether cameras' raw photos have it, also those that begin as TIFF.
bool is_raw_suffix(std::string_view suffix);

/// The orientation (1..8) in EXIF data, with or without the "Exif" mark in front; 0 when it is missing or invalid.
int exif_orientation(std::string_view exif);

/// The stored image turned upright: by `orientation`, the position of its first row and column (EXIF 2.32, tag 0x0112).
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

/// The same where `decoded` pixels are made of an image of that size, which is read strip by strip: what is held is
/// `decoded`, what takes time is the image, of which a pixel counts a quarter.
void check_reduced_size(int64_t height, int64_t width, int64_t decoded, const DecodeOptions& options);

/// An image of that size, its pixels zero.
Image blank_image(int64_t height, int64_t width);

/// RGBA pixels over white, into three bytes per pixel.
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
