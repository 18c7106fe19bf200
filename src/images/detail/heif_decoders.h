#pragma once
#include <libheif/heif.h>
#include <libheif/heif_plugin.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

// libheif holds against a limit what a file states about its pictures, not what is coded in it: a few hundred bytes
// that announce 48 x 32 pixels may code 32,768 x 32,768. The decoders that it brings ask for that memory. Ours are the
// same two libraries (dav1d, libde265), but every picture that they are to make room for is taken from a budget.

namespace protocom::codec {

/// While one lives, what this thread decodes by libheif is decoded by our decoders. libheif has to decode in this
/// thread (heif_context_set_max_decoding_threads(context, 0)). Not within one another.
class CodedPixels {
 public:
  /// @param most  pixels of all pictures that are coded in the file together, in channels of full size
  /// Throws Error if libheif does not take our decoders.
  explicit CodedPixels(int64_t most);
  ~CodedPixels();
  CodedPixels(const CodedPixels&) = delete;
  CodedPixels& operator=(const CodedPixels&) = delete;

  /// Whether a picture was refused.
  bool exceeded() const { return exceeded_; }

  /// Whether there is a budget for this thread.
  static bool limited();
  /// Takes a picture of that size from this thread's budget, a small one as 2^16 pixels; false when it is too large for
  /// what is left.
  static bool take(int64_t width, int64_t height);
  /// Notes that a picture was refused.
  static void refuse();
  /// Pixels that are left of this thread's budget.
  static int64_t left();

 private:
  int64_t left_;
  bool exceeded_ = false;
};

/// One plane of a decoded picture.
struct CodedPlane {
  heif_channel channel;
  const uint8_t* samples;  ///< of one byte, or of two if there are more than 8 bits
  ptrdiff_t stride;        ///< bytes from row to row
  int width;
  int height;
  int bits;
};

/// How the numbers of a picture mean colours, by the code points of ITU-T H.273.
struct CodedColours {
  int primaries;
  int transfer;
  int matrix;
  int full_range;
};

/// A copy of the planes, brightness first, as libheif holds them.
heif_error make_image(const std::vector<CodedPlane>& planes, heif_chroma chroma, const CodedColours& colours,
                      heif_image** image);

/// The error of a decoder that could not read its data.
heif_error undecodable();
inline constexpr heif_error kDecoded = {heif_error_Ok, heif_suberror_Unspecified, ""};

/// libheif's number of a chroma format, in the order in which both decoders count these, and of each plane's channel.
inline constexpr heif_chroma kChroma[] = {heif_chroma_monochrome, heif_chroma_420, heif_chroma_422, heif_chroma_444};
inline constexpr heif_channel kChannels[] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};

const heif_decoder_plugin& av1_decoder();
const heif_decoder_plugin& hevc_decoder();

/// Throws Error for a file whose pictures are made of themselves, for which libheif calls itself until the stack is
/// full, of pictures that are made in their turn, of items that are not pictures, or laid over one another; for one
/// with more references than it can have; for one that turns a picture again and again; and for one whose pictures are
/// all of other codecs. Takes a time that grows as the file does.
void check_heif_structure(std::string_view bytes);

/// Pixels of the largest canvas that tiles are put together on: libheif holds each side of it against a
/// limit, and neither the tiles nor the stated size of the picture say how large it is. 0: there are no tiles.
int64_t heif_canvas_pixels(std::string_view bytes);

/// libde265 makes tables as large as a picture is said to be before it asks for the picture: the size that a sequence
/// parameter set (ITU-T H.265, 7.3.2.2) without its header of two bytes says; false when it is cut short or says none.
bool read_hevc_size(const std::vector<uint8_t>& parameters, int64_t& width, int64_t& height);

}  // namespace protocom::codec
