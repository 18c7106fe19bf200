#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "images/codec.h"

namespace protocom::codec {
namespace {

/// The bytes of a file as read by OpenJPEG.
struct Jpeg2000Source {
  std::string_view bytes;
  size_t at = 0;
};

Jpeg2000Source& jpeg_2000_source(void* user) { return *static_cast<Jpeg2000Source*>(user); }

OPJ_SIZE_T read_some(void* to, OPJ_SIZE_T count, void* user) {
  Jpeg2000Source& source = jpeg_2000_source(user);
  const size_t taken = std::min<size_t>(count, source.bytes.size() - source.at);
  if (taken == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, source.bytes.data() + source.at, taken);
  source.at += taken;
  return taken;
}

OPJ_OFF_T skip_some(OPJ_OFF_T count, void* user) {
  Jpeg2000Source& source = jpeg_2000_source(user);
  if (count < 0 || static_cast<size_t>(count) > source.bytes.size() - source.at) return -1;
  source.at += static_cast<size_t>(count);
  return count;
}

OPJ_BOOL seek_to(OPJ_OFF_T place, void* user) {
  Jpeg2000Source& source = jpeg_2000_source(user);
  if (place < 0 || static_cast<size_t>(place) > source.bytes.size()) return OPJ_FALSE;
  source.at = static_cast<size_t>(place);
  return OPJ_TRUE;
}

using Stream = std::unique_ptr<opj_stream_t, void (*)(opj_stream_t*)>;
using Jpeg2000Codec = std::unique_ptr<opj_codec_t, void (*)(opj_codec_t*)>;
using Jpeg2000Image = std::unique_ptr<opj_image_t, void (*)(opj_image_t*)>;

Stream stream_of(Jpeg2000Source& source) {
  Stream stream(opj_stream_default_create(OPJ_TRUE), opj_stream_destroy);
  if (stream == nullptr) fail("out of memory for a JPEG 2000");
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), source.bytes.size());
  opj_stream_set_read_function(stream.get(), &read_some);
  opj_stream_set_skip_function(stream.get(), &skip_some);
  opj_stream_set_seek_function(stream.get(), &seek_to);
  return stream;
}

/// Checks the channels: OpenJPEG uses four bytes per sample, however small a channel is and however many there are.
void check_channels(const opj_image_t& image, const DecodeOptions& options) {
  constexpr OPJ_UINT32 kMostChannels = 4;
  if (image.numcomps < 1 || image.numcomps > kMostChannels)
    fail("unsupported JPEG 2000: {} channels, expected 1 to {}", image.numcomps, kMostChannels);
  check_size(int64_t{image.y1} - image.y0, int64_t{image.x1} - image.x0, options);
  for (OPJ_UINT32 c = 0; c < image.numcomps; ++c) {
    if (image.comps[c].dx != 1 || image.comps[c].dy != 1 || image.comps[c].prec > 16 || image.comps[c].prec < 1)
      fail("unsupported JPEG 2000 (channels of several sizes, or of more than 16 bits)");
  }
}

uint8_t to_byte(int64_t value, const opj_image_comp_t& channel) {
  if (channel.sgnd != 0) value += int64_t{1} << (channel.prec - 1);
  const int64_t most = (int64_t{1} << channel.prec) - 1;
  return static_cast<uint8_t>((std::clamp<int64_t>(value, 0, most) * 255 + most / 2) / most);
}

/// Returns grey (and alpha), or RGB (and alpha), over white.
Image pixels_of(const opj_image_t& image) {
  const int64_t height = image.comps[0].h, width = image.comps[0].w;
  const bool grey = image.numcomps < 3;
  const OPJ_UINT32 alpha = image.numcomps == 2 ? 1 : image.numcomps == 4 ? 3 : image.numcomps;
  for (OPJ_UINT32 c = 0; c < image.numcomps; ++c) {
    if (image.comps[c].data == nullptr || image.comps[c].h != height || image.comps[c].w != width)
      fail("damaged JPEG 2000 (no pixels)");
  }
  Image result = blank_image(height, width);
  uint8_t* to = result.rgb.data();
  for (int64_t i = 0; i < height * width; ++i, to += 3) {
    uint8_t rgba[4] = {0, 0, 0, 255};
    for (OPJ_UINT32 c = 0; c < 3; ++c) {
      const opj_image_comp_t& channel = image.comps[grey ? 0 : c];
      rgba[c] = to_byte(channel.data[i], channel);
    }
    if (alpha < image.numcomps) rgba[3] = to_byte(image.comps[alpha].data[i], image.comps[alpha]);
    lay_over_white(rgba, 1, to);
  }
  return result;
}

void ignore_message(const char* /*text*/, void* /*user*/) {}

}  // namespace

Decoded decode_jpeg_2000(std::string_view bytes, const DecodeOptions& options) {
  check_jpeg_2000_structure(bytes);
  Jpeg2000Source source{bytes};
  const Stream stream = stream_of(source);
  const bool boxed = bytes[0] == '\0';
  const Jpeg2000Codec codec(opj_create_decompress(boxed ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K), opj_destroy_codec);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (codec == nullptr || opj_setup_decoder(codec.get(), &parameters) == OPJ_FALSE)
    fail("out of memory for a JPEG 2000");
  opj_set_error_handler(codec.get(), &ignore_message, nullptr);
  opj_set_warning_handler(codec.get(), &ignore_message, nullptr);
  opj_image_t* read = nullptr;
  const bool has_header = opj_read_header(stream.get(), codec.get(), &read) != OPJ_FALSE;
  const Jpeg2000Image image(read, opj_image_destroy);
  if (!has_header || image == nullptr) fail("damaged JPEG 2000 (its header)");
  check_channels(*image, options);
  if (opj_decode(codec.get(), stream.get(), image.get()) == OPJ_FALSE ||
      opj_end_decompress(codec.get(), stream.get()) == OPJ_FALSE)
    fail("damaged or truncated JPEG 2000");
  if (image->color_space == OPJ_CLRSPC_SYCC || image->color_space == OPJ_CLRSPC_EYCC ||
      image->color_space == OPJ_CLRSPC_CMYK)
    fail("unsupported JPEG 2000 (its colours are not RGB)");
  std::string profile;
  if (image->icc_profile_buf != nullptr && image->icc_profile_len > 0)
    profile.assign(reinterpret_cast<const char*>(image->icc_profile_buf), image->icc_profile_len);
  return {pixels_of(*image), 1, std::move(profile)};
}

}  // namespace protocom::codec
