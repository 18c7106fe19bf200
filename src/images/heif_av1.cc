#include <dav1d/dav1d.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "images/detail/heif_decoders.h"

namespace protocom::codec {
namespace {

constexpr size_t kPictureAlignment = DAV1D_PICTURE_ALIGNMENT;

int64_t rounded_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

/// Allocates a picture as dav1d needs it: sides of multiples of 128 pixels, aligned planes and rows.
int make_av1_room(Dav1dPicture* picture, void* /*cookie*/) {
  const int64_t width = rounded_up(picture->p.w, 128), height = rounded_up(picture->p.h, 128);
  if (!CodedPixels::take(picture->p.w, picture->p.h)) return DAV1D_ERR(ENOMEM);
  const Dav1dPixelLayout layout = picture->p.layout;
  const bool wide = layout == DAV1D_PIXEL_LAYOUT_I444, tall = wide || layout == DAV1D_PIXEL_LAYOUT_I422;
  const int64_t sample = picture->p.bpc > 8 ? 2 : 1;
  // A stride of a power of two would map all rows to the same cache sets.
  const auto spread = [](int64_t stride) {
    return stride % 1024 == 0 ? stride + static_cast<int64_t>(kPictureAlignment) : stride;
  };
  const int64_t stride = spread(width * sample);
  const int64_t colour_stride = layout == DAV1D_PIXEL_LAYOUT_I400 ? 0 : spread((wide ? width : width / 2) * sample);
  const int64_t plane = stride * height, colour_plane = colour_stride * (tall ? height : height / 2);
  void* room = nullptr;
  if (::posix_memalign(&room, kPictureAlignment, static_cast<size_t>(plane + 2 * colour_plane) + kPictureAlignment) !=
      0)
    return DAV1D_ERR(ENOMEM);
  auto* const bytes = static_cast<uint8_t*>(room);
  picture->stride[0] = stride;
  picture->stride[1] = colour_stride;
  picture->data[0] = bytes;
  picture->data[1] = colour_stride == 0 ? nullptr : bytes + plane;
  picture->data[2] = colour_stride == 0 ? nullptr : bytes + plane + colour_plane;
  picture->allocator_data = room;
  return 0;
}

void free_av1_room(Dav1dPicture* picture, void* /*cookie*/) { std::free(picture->allocator_data); }

/// A decoder that has been given data, and the picture that it decoded.
struct Av1 {
  Dav1dContext* context = nullptr;
  Dav1dData data = {};
  Dav1dPicture picture = {};
};

Av1& av1_of(void* decoder) { return *static_cast<Av1*>(decoder); }

heif_error open_av1(void** decoder) {
  Dav1dSettings settings;
  dav1d_default_settings(&settings);
  settings.n_threads = 1;
  settings.max_frame_delay = 1;
  settings.all_layers = 0;
  settings.frame_size_limit = static_cast<unsigned>(std::min<int64_t>(CodedPixels::left(), 1 << 30));
  settings.allocator = {nullptr, &make_av1_room, &free_av1_room};
  settings.logger = {nullptr, [](void*, const char*, va_list) {}};
  auto* const av1 = new Av1;
  if (dav1d_open(&av1->context, &settings) != 0) {
    delete av1;
    return undecodable();
  }
  *decoder = av1;
  return kDecoded;
}

void close_av1(void* decoder) {
  Av1& av1 = av1_of(decoder);
  if (av1.picture.data[0] != nullptr) dav1d_picture_unref(&av1.picture);
  if (av1.data.sz > 0) dav1d_data_unref(&av1.data);
  dav1d_close(&av1.context);
  delete &av1;
}

heif_error push_av1(void* decoder, const void* bytes, size_t size) {
  Av1& av1 = av1_of(decoder);
  if (size == 0 || av1.data.sz > 0) return undecodable();
  uint8_t* to = dav1d_data_create(&av1.data, size);
  if (to == nullptr) return undecodable();
  std::memcpy(to, bytes, size);
  return kDecoded;
}

/// Whether dav1d continues after a result; frame_size_limit has its own result.
bool goes_on(int result) {
  if (result == DAV1D_ERR(ERANGE)) CodedPixels::refuse();
  return result >= 0 || result == DAV1D_ERR(EAGAIN);
}

bool decode_picture(Av1& av1) {
  for (;;) {
    if (av1.data.sz > 0 && !goes_on(dav1d_send_data(av1.context, &av1.data))) return false;
    const int got = dav1d_get_picture(av1.context, &av1.picture);
    if (got == 0) return true;
    if (!goes_on(got) || av1.data.sz == 0) return false;
  }
}

heif_error decode_av1(void* decoder, heif_image** image) {
  Av1& av1 = av1_of(decoder);
  if (!decode_picture(av1)) return undecodable();
  const Dav1dPicture& picture = av1.picture;
  const Dav1dPixelLayout layout = picture.p.layout;
  const int columns = layout == DAV1D_PIXEL_LAYOUT_I444 ? 1 : 2, rows = layout == DAV1D_PIXEL_LAYOUT_I420 ? 2 : 1;
  std::vector<CodedPlane> planes;
  for (int c = 0; c < (layout == DAV1D_PIXEL_LAYOUT_I400 ? 1 : 3); ++c) {
    const int across = c == 0 ? 1 : columns, down = c == 0 ? 1 : rows;
    planes.push_back({kChannels[c], static_cast<const uint8_t*>(picture.data[c]), picture.stride[c > 0],
                      (picture.p.w + across - 1) / across, (picture.p.h + down - 1) / down, picture.p.bpc});
  }
  const Dav1dSequenceHeader& header = *picture.seq_hdr;
  return make_image(planes, kChroma[layout], {header.pri, header.trc, header.mtrx, header.color_range}, image);
}

}  // namespace

const heif_decoder_plugin& av1_decoder() {
  static const heif_decoder_plugin kPlugin = [] {
    heif_decoder_plugin made{};
    made.plugin_api_version = 3;
    made.get_plugin_name = [] { return "dav1d, of limited size"; };
    made.does_support_format = [](heif_compression_format format) {
      return format == heif_compression_AV1 && CodedPixels::limited() ? 1000 : 0;
    };
    made.new_decoder = &open_av1;
    made.free_decoder = &close_av1;
    made.push_data = &push_av1;
    made.decode_image = &decode_av1;
    made.set_strict_decoding = [](void*, int) {};
    made.id_name = "protocom-dav1d";
    return made;
  }();
  return kPlugin;
}

}  // namespace protocom::codec
