#include "images/detail/heif_decoders.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace protocom::codec {
namespace {

/// Least charge of a picture: a decoder takes a third of a millisecond to start, and tens of thousands of tiles may
/// refer to the same data.
constexpr int64_t kLeastPrice = 1 << 16;

thread_local int64_t* pixels_left = nullptr;
thread_local bool* has_exceeded = nullptr;

void copy_plane(const CodedPlane& plane, heif_image* image) {
  int stride = 0;
  uint8_t* to = heif_image_get_plane(image, plane.channel, &stride);
  const auto row_bytes = static_cast<size_t>(plane.width) * (plane.bits > 8 ? 2 : 1);
  for (int y = 0; y < plane.height; ++y)
    std::memcpy(to + ptrdiff_t{y} * stride, plane.samples + y * plane.stride, row_bytes);
}

heif_error add_colours(const CodedColours& colours, heif_image* image) {
  heif_color_profile_nclx* profile = heif_nclx_color_profile_alloc();
  if (profile == nullptr) return undecodable();
  // libheif refuses code points that it does not support; the profile then keeps the default of a picture without them.
  heif_nclx_color_profile_set_color_primaries(profile, static_cast<uint16_t>(colours.primaries));
  heif_nclx_color_profile_set_transfer_characteristics(profile, static_cast<uint16_t>(colours.transfer));
  heif_nclx_color_profile_set_matrix_coefficients(profile, static_cast<uint16_t>(colours.matrix));
  profile->full_range_flag = static_cast<uint8_t>(colours.full_range);
  const heif_error error = heif_image_set_nclx_color_profile(image, profile);
  heif_nclx_color_profile_free(profile);
  return error;
}

heif_error fill_image(const std::vector<CodedPlane>& planes, const CodedColours& colours, heif_image* image) {
  for (const CodedPlane& plane : planes) {
    const heif_error error = heif_image_add_plane(image, plane.channel, plane.width, plane.height, plane.bits);
    if (error.code != heif_error_Ok) return error;
    copy_plane(plane, image);
  }
  return add_colours(colours, image);
}

}  // namespace

CodedPixels::CodedPixels(int64_t most) : left_(most) {
  static const bool kKnown = heif_register_decoder_plugin(&av1_decoder()).code == heif_error_Ok &&
                             heif_register_decoder_plugin(&hevc_decoder()).code == heif_error_Ok;
  if (!kKnown) fail("this libheif cannot limit its memory: HEIC and AVIF are not supported with it");
  pixels_left = &left_;
  has_exceeded = &exceeded_;
}

CodedPixels::~CodedPixels() {
  pixels_left = nullptr;
  has_exceeded = nullptr;
}

bool CodedPixels::limited() { return pixels_left != nullptr; }

int64_t CodedPixels::left() { return pixels_left == nullptr ? 0 : *pixels_left; }

bool CodedPixels::take(int64_t width, int64_t height) {
  if (width > 0 && height > 0 && width <= left() / height && left() >= kLeastPrice) {
    *pixels_left -= std::max(kLeastPrice, width * height);
    return true;
  }
  refuse();
  return false;
}

void CodedPixels::refuse() {
  if (has_exceeded != nullptr) *has_exceeded = true;
}

heif_error undecodable() {
  return {heif_error_Decoder_plugin_error, heif_suberror_Unspecified, "its pixels cannot be decoded"};
}

heif_error make_image(const std::vector<CodedPlane>& planes, heif_chroma chroma, const CodedColours& colours,
                      heif_image** image) {
  const heif_colorspace space = chroma == heif_chroma_monochrome ? heif_colorspace_monochrome : heif_colorspace_YCbCr;
  heif_image* made = nullptr;
  heif_error error = heif_image_create(planes.front().width, planes.front().height, space, chroma, &made);
  if (error.code != heif_error_Ok) return error;
  error = fill_image(planes, colours, made);
  if (error.code == heif_error_Ok) {
    *image = made;
  } else {
    heif_image_release(made);
  }
  return error;
}

}  // namespace protocom::codec
