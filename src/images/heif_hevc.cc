#include <libde265/de265.h>

#include "images/detail/heif_decoders.h"

namespace protocom::codec {
namespace {

constexpr int kSequenceParameters = 33;  // nal_unit_type of ITU-T H.265, table 7-1

/// Reads bits, highest first. Bits beyond the end are zero, which is recorded.
class Bits {
 public:
  explicit Bits(const std::vector<uint8_t>& bytes) : bytes_(bytes) {}

  uint32_t next(int count) {
    uint32_t value = 0;
    for (; count > 0; --count, ++at_) value = value << 1 | bit();
    return value;
  }
  void skip(size_t count) { at_ += count; }

  /// Reads an Exp-Golomb code, ue(v) of 9.2.
  uint32_t next_code() {
    int zeros = 0;
    while (zeros < 32 && !beyond() && next(1) == 0) ++zeros;
    return zeros >= 32 ? UINT32_MAX : (uint32_t{1} << zeros) - 1 + next(zeros);
  }
  bool beyond() const { return at_ > 8 * bytes_.size(); }

 private:
  uint32_t bit() const { return at_ / 8 < bytes_.size() ? bytes_[at_ / 8] >> (7 - at_ % 8) & 1 : 0; }

  const std::vector<uint8_t>& bytes_;
  size_t at_ = 0;
};

/// Skips profile_tier_level(1, layers) of 7.3.3.
void skip_profile(Bits& bits, uint32_t layers) {
  bits.skip(96);
  uint32_t present[8][2] = {};
  for (uint32_t i = 0; i < layers; ++i) {
    for (uint32_t& item : present[i]) item = bits.next(1);
  }
  if (layers > 0) bits.skip(16 - size_t{2} * layers);
  for (uint32_t i = 0; i < layers; ++i) bits.skip(88 * present[i][0] + 8 * present[i][1]);
}

/// Returns the payload without emulation prevention bytes (7.3.1.1).
std::vector<uint8_t> unescaped_payload(const uint8_t* unit, size_t size) {
  std::vector<uint8_t> payload;
  size_t zeros = 0;
  for (size_t i = 2; i < size; ++i) {
    if (zeros >= 2 && unit[i] == 3) {
      zeros = 0;
      continue;
    }
    zeros = unit[i] == 0 ? zeros + 1 : 0;
    payload.push_back(unit[i]);
  }
  return payload;
}

/// Whether a sequence's pictures fit into the remaining budget; damaged data are left to the decoder, which rejects
/// them.
bool affordable(const uint8_t* unit, size_t size) {
  if (size < 2 || (unit[0] >> 1 & 63) != kSequenceParameters) return true;
  int64_t width = 0, height = 0;
  if (!read_hevc_size(unescaped_payload(unit, size), width, height) || width <= CodedPixels::left() / height)
    return true;
  CodedPixels::refuse();
  return false;
}

int make_hevc_room(de265_decoder_context* context, de265_image_spec* spec, de265_image* image, void* data) {
  if (!CodedPixels::take(spec->width, spec->height)) return 0;
  return de265_get_default_image_allocation_functions()->get_buffer(context, spec, image, data);
}

void free_hevc_room(de265_decoder_context* context, de265_image* image, void* data) {
  de265_get_default_image_allocation_functions()->release_buffer(context, image, data);
}

heif_error open_hevc(void** decoder) {
  de265_decoder_context* context = de265_new_decoder();
  if (context == nullptr) return undecodable();
  static de265_image_allocation limited = {&make_hevc_room, &free_hevc_room};
  de265_set_image_allocation_functions(context, &limited, nullptr);
  *decoder = context;
  return kDecoded;
}

void close_hevc(void* decoder) { de265_free_decoder(static_cast<de265_decoder_context*>(decoder)); }

/// Passes units, each preceded by its length in four bytes.
heif_error push_hevc(void* decoder, const void* bytes, size_t size) {
  const auto* at = static_cast<const uint8_t*>(bytes);
  const uint8_t* const end = at + size;
  while (end - at >= 4) {
    const size_t length = size_t{at[0]} << 24 | size_t{at[1]} << 16 | size_t{at[2]} << 8 | at[3];
    at += 4;
    if (length > static_cast<size_t>(end - at) || !affordable(at, length)) return undecodable();
    de265_push_NAL(static_cast<de265_decoder_context*>(decoder), at, static_cast<int>(length), 0, nullptr);
    at += length;
  }
  return at == end ? kDecoded : undecodable();
}

const de265_image* first_picture(de265_decoder_context* context) {
  de265_flush_data(context);
  for (int more = 1; more != 0;) {
    more = 0;
    if (de265_decode(context, &more) != DE265_OK) return nullptr;
    if (const de265_image* picture = de265_get_next_picture(context)) return picture;
  }
  return nullptr;
}

heif_error decode_hevc(void* decoder, heif_image** image) {
  const de265_image* picture = first_picture(static_cast<de265_decoder_context*>(decoder));
  if (picture == nullptr) return undecodable();
  const de265_chroma chroma = de265_get_chroma_format(picture);
  std::vector<CodedPlane> planes;
  for (int c = 0; c < (chroma == de265_chroma_mono ? 1 : 3); ++c) {
    int stride = 0;
    const uint8_t* samples = de265_get_image_plane(picture, c, &stride);
    planes.push_back({kChannels[c], samples, stride, de265_get_image_width(picture, c),
                      de265_get_image_height(picture, c), de265_get_bits_per_pixel(picture, c)});
    if (samples == nullptr) return undecodable();
  }
  return make_image(planes, kChroma[chroma],
                    {de265_get_image_colour_primaries(picture), de265_get_image_transfer_characteristics(picture),
                     de265_get_image_matrix_coefficients(picture), de265_get_image_full_range_flag(picture)},
                    image);
}

}  // namespace

bool read_hevc_size(const std::vector<uint8_t>& parameters, int64_t& width, int64_t& height) {
  Bits bits(parameters);
  bits.skip(4);  // sps_video_parameter_set_id
  const uint32_t layers = bits.next(3);
  bits.skip(1);  // sps_temporal_id_nesting_flag
  skip_profile(bits, layers);
  bits.next_code();                         // sps_seq_parameter_set_id
  if (bits.next_code() == 3) bits.skip(1);  // chroma_format_idc, separate_colour_plane_flag
  width = bits.next_code();
  height = bits.next_code();
  return !bits.beyond() && width > 0 && height > 0;
}

const heif_decoder_plugin& hevc_decoder() {
  static const heif_decoder_plugin kPlugin = [] {
    heif_decoder_plugin made{};
    made.plugin_api_version = 3;
    made.get_plugin_name = [] { return "libde265, of limited size"; };
    made.init_plugin = [] { de265_init(); };
    made.deinit_plugin = [] { de265_free(); };
    made.does_support_format = [](heif_compression_format format) {
      return format == heif_compression_HEVC && CodedPixels::limited() ? 1000 : 0;
    };
    made.new_decoder = &open_hevc;
    made.free_decoder = &close_hevc;
    made.push_data = &push_hevc;
    made.decode_image = &decode_hevc;
    made.set_strict_decoding = [](void*, int) {};
    made.id_name = "protocom-libde265";
    return made;
  }();
  return kPlugin;
}

}  // namespace protocom::codec
