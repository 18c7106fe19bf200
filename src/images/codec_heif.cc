#include <libheif/heif.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "images/codec.h"
#include "images/detail/heif_decoders.h"

namespace protocom::codec {
namespace {

void check(const heif_error& error) {
  if (error.code != heif_error_Ok) fail("damaged HEIC or AVIF ({})", error.message);
}

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

/// libheif limits only sides, not pixels: a limit that allows long images allows large square ones. Phones' panoramas
/// are this long.
constexpr int kLongestSide = 1 << 14;

/// Returns the limit of coded pixels: colour, transparency, and the excess of tiles over the border; a phone's are of
/// 512 x 512 pixels.
int64_t coded_pixels(const DecodeOptions& options) { return 2 * options.max_pixels + (int64_t{1} << 20); }

/// Charges the pixels that a file uses beyond those already counted.
void charge(int64_t counted, int64_t used, const DecodeOptions& options) {
  if (options.pixels_left == nullptr || used <= counted) return;
  *options.pixels_left -= used - counted;
  if (*options.pixels_left < 0)
    fail("the image's pictures have {} pixels, more than the limit for all images of the request leaves", used);
}

/// `counted`: pixels that were counted already.
Owned<heif_image> decode_pixels(const heif_image_handle* handle, heif_chroma chroma, int64_t counted,
                                const DecodeOptions& options) {
  const CodedPixels budget(coded_pixels(options));
  heif_image* decoded = nullptr;
  const heif_error error = heif_decode_image(handle, &decoded, heif_colorspace_RGB, chroma, nullptr);
  Owned<heif_image> pixels(decoded, [](heif_image* item) { heif_image_release(item); });
  charge(counted, coded_pixels(options) - CodedPixels::left(), options);
  if (budget.exceeded()) fail("damaged HEIC or AVIF (its images are larger than declared and allowed)");
  check(error);
  return pixels;
}

Owned<heif_image_handle> primary_image(heif_context* context) {
  heif_image_handle* handle = nullptr;
  check(heif_context_get_primary_image_handle(context, &handle));
  return {handle, [](heif_image_handle* item) { heif_image_handle_release(item); }};
}

/// Returns the profile, or that of a known set of primaries given by number.
std::string profile_of(const heif_image_handle* handle) {
  constexpr size_t kLargest = size_t{4} << 20;
  const size_t size = heif_image_handle_get_raw_color_profile_size(handle);
  if (size > 0 && size <= kLargest) {
    std::string profile(size, '\0');
    return heif_image_handle_get_raw_color_profile(handle, profile.data()).code == heif_error_Ok ? profile : "";
  }
  heif_color_profile_nclx* named = nullptr;
  if (heif_image_handle_get_nclx_color_profile(handle, &named).code != heif_error_Ok) return "";
  const bool p3 = named->color_primaries == heif_color_primaries_SMPTE_EG_432_1;
  heif_nclx_color_profile_free(named);
  return p3 ? display_p3_profile() : "";
}

}  // namespace

// Checks the brands of ISO/IEC 14496-12, 4.3: the preferred one, a version, and all compatible ones. Android's cameras
// write "mif1" first.
bool is_heif(std::string_view bytes) {
  constexpr size_t kMost = 64;
  constexpr std::array<std::string_view, 4> kRead = {"heic", "heix", "avif", "mif1"};
  if (bytes.size() < 12 || bytes.substr(4, 4) != "ftyp") return false;
  size_t end = 0;
  for (size_t i = 0; i < 4; ++i) end = end << 8 | static_cast<uint8_t>(bytes[i]);
  const std::string_view brands = bytes.substr(0, std::min({end, bytes.size(), 4 * kMost}));
  for (size_t at = 8; at + 4 <= brands.size(); at += 4) {
    if (at != 12 && std::find(kRead.begin(), kRead.end(), brands.substr(at, 4)) != kRead.end()) return true;
  }
  return false;
}

Decoded decode_heif(std::string_view bytes, const DecodeOptions& options) {
  check_heif_structure(bytes);
  const Owned<heif_context> context(heif_context_alloc(), [](heif_context* item) { heif_context_free(item); });
  if (context == nullptr) fail("out of memory for a HEIC or AVIF");
  heif_context_set_max_decoding_threads(context.get(), 0);  // CodedPixels is this thread's
  check(heif_context_read_from_memory_without_copy(context.get(), bytes.data(), bytes.size(), nullptr));
  const auto handle = primary_image(context.get());
  const int64_t stated_height = heif_image_handle_get_height(handle.get());
  const int64_t stated_width = heif_image_handle_get_width(handle.get());
  check_size(stated_height, stated_width, options);
  const int64_t stated = stated_height * stated_width;
  // The canvas of tiles is as large as another part of the file states.
  const int64_t canvas = heif_canvas_pixels(bytes);
  if (canvas > coded_pixels(options))
    fail("the image's canvas has {} pixels: expected at most {}", canvas, coded_pixels(options));
  charge(stated, canvas, options);
  const int side =
      std::max(heif_image_handle_get_ispe_width(handle.get()), heif_image_handle_get_ispe_height(handle.get()));
  if (side > kLongestSide)
    fail("the image is {} pixels wide or high: expected at most {} of a HEIC or AVIF", side, kLongestSide);
  heif_context_set_maximum_image_size_limit(context.get(), side + 1);
  const bool alpha = heif_image_handle_has_alpha_channel(handle.get()) != 0;
  const auto pixels = decode_pixels(handle.get(), alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB,
                                    std::max(stated, canvas), options);
  const int64_t height = heif_image_get_height(pixels.get(), heif_channel_interleaved);
  const int64_t width = heif_image_get_width(pixels.get(), heif_channel_interleaved);
  check_size(height, width, {0, options.max_pixels});  // its header was counted already
  int stride = 0;
  const uint8_t* plane = heif_image_get_plane_readonly(pixels.get(), heif_channel_interleaved, &stride);
  const auto row_bytes = static_cast<size_t>(width * (alpha ? 4 : 3));
  if (plane == nullptr || static_cast<size_t>(stride) < row_bytes) fail("damaged HEIC or AVIF (no pixels)");
  Image image = blank_image(height, width);
  for (int64_t y = 0; y < height; ++y) {
    uint8_t* row = image.rgb.data() + y * width * 3;
    if (alpha) {
      lay_over_white(plane + y * stride, width, row);
    } else {
      std::memcpy(row, plane + y * stride, row_bytes);
    }
  }
  // The library has applied the file's own transformations; its EXIF orientation repeats them.
  return {std::move(image), 1, profile_of(handle.get())};
}

}  // namespace protocom::codec
