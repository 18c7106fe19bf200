#pragma once
#include <map>
#include <string>
#include <vector>

#include "images/image.h"

/// Raw photos of cameras, as small as their readers accept.
namespace protocom::testing {

/// A TIFF of little-endian numbers, written front to back: the stored values, then the directories that refer to them.
class TiffWriter {
 public:
  struct Field {
    uint16_t type;
    uint32_t count;
    std::string data;  ///< of all values
  };
  using Directory = std::map<uint16_t, Field>;  // by tag, as TIFF 6.0 wants them

  static std::string number(uint64_t value, int size) {
    std::string bytes;
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
    return bytes;
  }
  static Field bytes(const std::string& values) { return {1, static_cast<uint32_t>(values.size()), values}; }
  static Field text(const std::string& text) { return {2, static_cast<uint32_t>(text.size()) + 1, text + '\0'}; }
  static Field shorts(const std::vector<uint16_t>& values) {
    Field field{3, static_cast<uint32_t>(values.size()), {}};
    for (const uint16_t value : values) field.data += number(value, 2);
    return field;
  }
  static Field longs(const std::vector<uint32_t>& values) {
    Field field{4, static_cast<uint32_t>(values.size()), {}};
    for (const uint32_t value : values) field.data += number(value, 4);
    return field;
  }

  /// Returns its offset.
  uint32_t put(const std::string& data) {
    const auto place = static_cast<uint32_t>(bytes_.size());
    bytes_ += data;
    if (bytes_.size() % 2 != 0) bytes_ += '\0';
    return place;
  }
  uint32_t put(const Directory& directory) {
    std::string entries = number(directory.size(), 2);
    for (const auto& [tag, field] : directory) {
      std::string value = field.data.size() > 4 ? number(put(field.data), 4) : field.data;
      value.resize(4);
      entries += number(tag, 2) + number(field.type, 2) + number(field.count, 4) + value;
    }
    return put(entries + number(0, 4));
  }

  /// Returns the file, which starts with the directory at `first`; `mark`: "*\0", or its replacement.
  [[nodiscard]] std::string finish(uint32_t first, const std::string& mark = std::string("*\0", 2)) const {
    return "II" + mark + number(first, 4) + bytes_.substr(8);
  }

 private:
  std::string bytes_ = std::string(8, '\0');
};

struct RawPhotoSpec {
  std::vector<std::string> previews = {};  ///< JPEGs, in pages below the first one
  Image thumbnail = {};                    ///< the first page, uncompressed; empty: it is the raw image
  std::string jpeg_tile = {};              ///< the raw image, of three colours; empty: one colour per pixel
  uint16_t orientation = 1;
  std::string time = {};
};

/// Returns a DNG (Adobe, "Digital Negative Specification 1.4") of a raw image of 64 x 64 pixels. LibRaw 0.20 opens it.
inline std::string make_dng(const RawPhotoSpec& spec) {
  constexpr uint16_t kJpeg = 7, kRgb = 2, kYcbcr = 6, kCfa = 32803, kLinearRaw = 34892;
  using T = TiffWriter;
  T tiff;
  const auto page = [&](uint32_t kind, uint32_t side, uint16_t photometric, uint16_t compression,
                        const std::string& data) {
    const bool is_raw = photometric == kCfa;
    T::Directory fields = {{254, T::longs({kind})},           {256, T::longs({side})},
                           {257, T::longs({side})},           {258, is_raw ? T::shorts({16}) : T::shorts({8, 8, 8})},
                           {259, T::shorts({compression})},   {262, T::shorts({photometric})},
                           {273, T::longs({tiff.put(data)})}, {277, T::shorts({static_cast<uint16_t>(is_raw ? 1 : 3)})},
                           {278, T::longs({side})},           {279, T::longs({static_cast<uint32_t>(data.size())})}};
    if (!is_raw) return fields;
    fields[33421] = T::shorts({2, 2});
    fields[33422] = T::bytes(std::string("\0\1\1\2", 4));
    return fields;
  };
  std::vector<uint32_t> below;
  T::Directory raw = spec.jpeg_tile.empty() ? page(0, 64, kCfa, 1, std::string(64 * 64 * 2, '\x11'))
                                            : page(0, 64, kLinearRaw, kJpeg, spec.jpeg_tile);
  T::Directory first = raw;
  if (!spec.thumbnail.rgb.empty()) {
    const std::string pixels(spec.thumbnail.rgb.begin(), spec.thumbnail.rgb.end());
    first = page(1, static_cast<uint32_t>(spec.thumbnail.width), kRgb, 1, pixels);
    below.push_back(tiff.put(raw));
  }
  for (const std::string& preview : spec.previews) below.push_back(tiff.put(page(1, 16, kYcbcr, kJpeg, preview)));
  if (!below.empty()) first[330] = T::longs(below);
  first[271] = T::text("Maker");
  first[272] = T::text("Model");
  first[274] = T::shorts({spec.orientation});
  if (!spec.time.empty()) first[34665] = T::longs({tiff.put(T::Directory{{36867, T::text(spec.time)}})});
  first[50706] = T::bytes(std::string("\1\4\0\0", 4));
  first[50708] = T::text("Maker Model");
  return tiff.finish(tiff.put(first));
}

}  // namespace protocom::testing
