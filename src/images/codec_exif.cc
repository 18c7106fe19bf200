#include <libexif/exif-data.h>

#include <memory>
#include <string>

#include "images/codec.h"

namespace protocom::codec {
namespace {

constexpr std::string_view kMark("Exif\0\0", 6);

/// Returns a number, a SHORT by the standard; some programs write a LONG or a BYTE with the same meaning.
uint32_t number_in(const ExifEntry& entry, ExifByteOrder order) {
  const size_t size = exif_format_get_size(entry.format);
  if (entry.size < size) return 0;
  switch (entry.format) {
    case EXIF_FORMAT_SHORT:
    case EXIF_FORMAT_SSHORT:
      return exif_get_short(entry.data, order);
    case EXIF_FORMAT_LONG:
    case EXIF_FORMAT_SLONG:
      return exif_get_long(entry.data, order);
    case EXIF_FORMAT_BYTE:
    case EXIF_FORMAT_SBYTE:
      return entry.data[0];
    default:
      return 0;
  }
}

int orientation_in(ExifData& data) {
  const ExifEntry* entry = exif_content_get_entry(data.ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
  if (entry == nullptr || entry->data == nullptr) return 0;
  const uint32_t value = number_in(*entry, exif_data_get_byte_order(&data));
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 0;
}

/// Reads the stored image in the order of the upright one: `start` is the upright first pixel, the steps lead right and
/// down.
struct Walk {
  int64_t start, right, down;
};

Walk pixel_walk(int orientation, int64_t height, int64_t width) {
  const int64_t last_row = (height - 1) * width;
  const int64_t last_column = width - 1;
  switch (orientation) {
    case 2:
      return {last_column, -1, width};
    case 3:
      return {last_row + last_column, -1, -width};
    case 4:
      return {last_row, 1, -width};
    case 5:
      return {0, width, 1};
    case 6:
      return {last_row, -width, 1};
    case 7:
      return {last_row + last_column, -width, -1};
    case 8:
      return {last_column, width, -1};
    default:
      return {0, 1, width};
  }
}

}  // namespace

int exif_orientation(std::string_view exif) {
  // JPEG includes the mark, PNG and some WebP do not; libexif needs it.
  std::string marked;
  if (exif.substr(0, kMark.size()) != kMark) {
    marked.append(kMark).append(exif);
    exif = marked;
  }
  const std::unique_ptr<ExifData, void (*)(ExifData*)> data(exif_data_new(), exif_data_unref);
  if (!data) return 0;
  exif_data_unset_option(data.get(), EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
  exif_data_load_data(data.get(), reinterpret_cast<const unsigned char*>(exif.data()),
                      static_cast<unsigned>(exif.size()));
  return orientation_in(*data);
}

Image turn_upright(Image image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const Walk walk = pixel_walk(orientation, image.height, image.width);
  Image upright = orientation >= 5 ? blank_image(image.width, image.height) : blank_image(image.height, image.width);
  uint8_t* out = upright.rgb.data();
  for (int64_t y = 0; y < upright.height; ++y) {
    for (int64_t x = 0; x < upright.width; ++x) {
      const uint8_t* in = image.rgb.data() + 3 * (walk.start + y * walk.down + x * walk.right);
      for (int c = 0; c < 3; ++c) *out++ = in[c];
    }
  }
  return upright;
}

}  // namespace protocom::codec
