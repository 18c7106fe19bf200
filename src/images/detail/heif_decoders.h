#pragma once
#include <libheif/heif.h>
#include <libheif/heif_plugin.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

// libheif limits the stated size of a file's pictures, not the coded size: a few hundred bytes that state 48 x 32
// pixels may code 32,768 x 32,768, and libheif's own decoders allocate that memory. Ours use the same two libraries
// (dav1d, libde265), but every picture is charged to a budget before it is allocated.

namespace protocom::codec {

/// While an object lives, libheif decodes with our decoders in this thread. libheif must decode in this thread
/// (heif_context_set_max_decoding_threads(context, 0)). Objects must not be nested.
class CodedPixels {
 public:
  /// `most`: pixels of all coded pictures in the file together, in channels of full size. Throws Error if libheif does
  /// not accept our decoders.
  explicit CodedPixels(int64_t most);
  ~CodedPixels();
  CodedPixels(const CodedPixels&) = delete;
  CodedPixels& operator=(const CodedPixels&) = delete;

  /// Whether a picture was refused.
  bool exceeded() const { return exceeded_; }

  /// Whether there is a budget for this thread.
  static bool limited();
  /// Charges a picture of that size to this thread's budget, a small one as 2^16 pixels; returns false if it exceeds
  /// the rest.
  static bool take(int64_t width, int64_t height);
  /// Records that a picture was refused.
  static void refuse();
  /// Pixels left in this thread's budget.
  static int64_t left();

 private:
  int64_t left_;
  bool exceeded_ = false;
};

/// One plane of a decoded picture.
struct CodedPlane {
  heif_channel channel;
  const uint8_t* samples;  ///< of one byte each, or of two if there are more than 8 bits
  ptrdiff_t stride;        ///< bytes from one row to the next
  int width;
  int height;
  int bits;
};

/// The colour space of a picture, as code points of ITU-T H.273.
struct CodedColours {
  int primaries;
  int transfer;
  int matrix;
  int full_range;
};

/// Copies the planes, luma first, into a libheif image.
heif_error make_image(const std::vector<CodedPlane>& planes, heif_chroma chroma, const CodedColours& colours,
                      heif_image** image);

/// Returns the error of a decoder that could not read its data.
heif_error undecodable();
inline constexpr heif_error kDecoded = {heif_error_Ok, heif_suberror_Unspecified, ""};

/// libheif's chroma format for each number used by both decoders, and each plane's channel.
inline constexpr heif_chroma kChroma[] = {heif_chroma_monochrome, heif_chroma_420, heif_chroma_422, heif_chroma_444};
inline constexpr heif_channel kChannels[] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};

const heif_decoder_plugin& av1_decoder();
const heif_decoder_plugin& hevc_decoder();

/// Throws Error for a file with circular references among its pictures, on which libheif recurses until the stack
/// overflows; with derived pictures of derived pictures, of items that are not pictures, or overlays; with more
/// references than it can have; with repeated transformations of a picture; and with only pictures of other codecs.
/// Takes linear time.
void check_heif_structure(std::string_view bytes);

/// Returns the pixels of the largest canvas for tiles: libheif limits only its sides, and neither the tiles nor the
/// stated size of the picture tell its size. 0: there are no tiles.
int64_t heif_canvas_pixels(std::string_view bytes);

/// Reads the picture size from a sequence parameter set (ITU-T H.265, 7.3.2.2) without its header of two bytes; returns
/// false if it is truncated or states none. libde265 allocates tables for that size before it requests the picture.
bool read_hevc_size(const std::vector<uint8_t>& parameters, int64_t& width, int64_t& height);

}  // namespace protocom::codec
