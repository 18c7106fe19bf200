#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "images/codec.h"

namespace protocom::codec {
namespace jpeg_2000 {
namespace {

// Usual values: tiles of 256 x 256 or more, precincts of 128 x 128 or more, code blocks of 64 x 64 or 32 x 32, 1 to 20
// layers.
constexpr uint64_t kMostTiles = 4096;
constexpr int kMostBoxes = 4096;
constexpr uint32_t kMostComponents = 4;
constexpr uint64_t kPixelsOfPrecinct = 1024, kFewPrecincts = 256;  // on average; and how many small images may have
constexpr uint64_t kSmallestBlock = 256, kFewPixels = uint64_t{1} << 20;  // pixels; smaller blocks only in small tiles
constexpr uint64_t kPacketsOfPixel = 1, kFewPackets = uint64_t{1} << 22;

constexpr uint16_t kStart = 0xff4f, kSize = 0xff51, kCoding = 0xff52, kComponentCoding = 0xff53, kTilePart = 0xff90,
                   kData = 0xff93, kEnd = 0xffd9;

[[noreturn]] void damaged_header() { fail("damaged JPEG 2000 (its header)"); }

/// Reads successive big-endian numbers; throws Error at the end.
class BigEndian {
 public:
  explicit BigEndian(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T next() {
    T value = 0;
    for (const char c : take(sizeof(T))) value = static_cast<T>(static_cast<uint64_t>(value) << 8 | uint8_t(c));
    return value;
  }
  std::string_view take(uint64_t count) {
    if (count > bytes_.size()) damaged_header();
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  [[nodiscard]] std::string_view rest() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

struct Box {
  std::string_view type, content;
};

Box next_box(BigEndian& from) {
  uint64_t length = from.next<uint32_t>(), header = 8;
  Box box;
  box.type = from.take(4);
  if (length == 1) {
    length = from.next<uint64_t>();
    header = 16;
  }
  if (length == 0) length = header + from.rest().size();
  if (length < header) damaged_header();
  // Coded data are read to their end; the decoder decides whether they suffice.
  const uint64_t size = box.type == "jp2c" ? std::min<uint64_t>(length - header, from.rest().size()) : length - header;
  box.content = from.take(size);
  return box;
}

/// Checks a palette, which makes an image of each of its channels.
void check_palette(std::string_view header_boxes) {
  BigEndian boxes(header_boxes);
  for (int count = 0; !boxes.empty(); ++count) {
    if (count == kMostBoxes) damaged_header();
    const Box box = next_box(boxes);
    if (box.type != "pclr") continue;
    BigEndian palette(box.content);
    palette.next<uint16_t>();
    const uint32_t channels = palette.next<uint8_t>();
    if (channels > kMostComponents)
      fail("unsupported JPEG 2000: {} channels, expected 1 to {}", channels, kMostComponents);
  }
}

/// Returns the codestream in the boxes.
std::string_view code_in(std::string_view bytes) {
  BigEndian boxes(bytes);
  for (int count = 0; count < kMostBoxes && !boxes.empty(); ++count) {
    const std::string_view before = boxes.rest();
    const Box box = next_box(boxes);
    if (box.type == "jp2h") check_palette(box.content);
    // To the end of the file, whatever the box states: so does OpenJPEG.
    if (box.type == "jp2c") return before.substr(static_cast<size_t>(box.content.data() - before.data()));
  }
  damaged_header();
}

/// The division of the pixels, according to the headers read so far.
class Grid {
 public:
  explicit Grid(std::string_view size_segment) {
    BigEndian from(size_segment);
    from.next<uint16_t>();
    std::array<uint64_t, 8> values{};  // ends, beginnings, tile sizes, tile beginnings: of columns, of rows
    for (uint64_t& value : values) value = from.next<uint32_t>();
    components_ = from.next<uint16_t>();
    uint64_t tiles = 1;
    for (size_t i = 0; i < 2; ++i) {
      const uint64_t end = values[i], begin = values[2 + i], tile = values[4 + i], tile_begin = values[6 + i];
      if (end <= begin || tile == 0 || tile_begin > begin || tile_begin + tile <= begin) damaged_header();
      tiles *= (end - tile_begin + tile - 1) / tile;
      side_[i] = std::min(tile, end - begin);
      if (tiles > kMostTiles) fail("unsupported JPEG 2000: more than {} tiles, each of which takes memory", kMostTiles);
    }
    if (components_ < 1 || components_ > kMostComponents)
      fail("unsupported JPEG 2000: {} channels, expected 1 to {}", components_, kMostComponents);
    seen_.resize(tiles);
  }

  /// Records that a tile has a part.
  void see(uint64_t tile) {
    if (tile >= seen_.size()) damaged_header();
    seen_[tile] = true;
  }
  /// Checks that all tiles have parts; OpenJPEG leaves the others grey.
  void check_all_seen() const {
    const auto missing = std::count(seen_.begin(), seen_.end(), false);
    if (missing > 0) fail("truncated JPEG 2000: {} of its {} tiles are missing", missing, seen_.size());
  }

  /// Checks a segment COD, for all components.
  void check_coding(std::string_view segment) {
    BigEndian from(segment);
    const bool has_precincts = (from.next<uint8_t>() & 1) != 0;
    from.next<uint8_t>();
    layers_ = std::max<uint64_t>(layers_, from.next<uint16_t>());
    from.next<uint8_t>();
    check_blocks(from, has_precincts);
  }
  /// Checks a segment COC, for one component.
  void check_component_coding(std::string_view segment) {
    BigEndian from(segment);
    from.next<uint8_t>();
    check_blocks(from, (from.next<uint8_t>() & 1) != 0);
  }

 private:
  void check_blocks(BigEndian& from, bool has_precincts) {
    const uint32_t levels = from.next<uint8_t>();
    const uint32_t block = uint32_t{from.next<uint8_t>()} + from.next<uint8_t>() + 4;  // logarithm of its pixels
    from.next<uint16_t>();
    if (levels > 32 || block > 12) damaged_header();
    const uint64_t pixels = side_[0] * side_[1];
    if ((uint64_t{1} << block) < kSmallestBlock && pixels > kFewPixels)
      fail("unsupported JPEG 2000: code blocks of {} pixels, each of which takes memory", 1U << block);
    uint64_t all = 0, most = 0;
    for (uint32_t level = 0; level <= levels; ++level) {
      const uint32_t stated = has_precincts ? from.next<uint8_t>() : 0xff;
      const uint64_t count =
          precincts(side_[0], levels - level, stated & 15) * precincts(side_[1], levels - level, stated >> 4);
      all += count;
      most = std::max(most, count);
    }
    if (all > kFewPrecincts + pixels / kPixelsOfPrecinct)
      fail("unsupported JPEG 2000: {} precincts in a tile, each of which takes memory", all);
    const uint64_t packets = (layers_ + 1) * most * components_ * (levels + 1);
    if (packets > kFewPackets + pixels * kPacketsOfPixel)
      fail("unsupported JPEG 2000: {} layers, each of which takes memory", layers_);
  }

  /// Returns the number of precincts along a side that is halved `halvings` times; one more, since they need not begin
  /// where the tile does.
  static uint64_t precincts(uint64_t side, uint32_t halvings, uint32_t exponent) {
    return (((side - 1) >> halvings) >> exponent) + 2;
  }

  std::array<uint64_t, 2> side_{};  // largest size of a tile: columns, rows
  uint64_t components_ = 0, layers_ = 1;
  std::vector<bool> seen_;
};

/// Checks the segments up to the one named `last`, which is not read; errors in others are left to the decoder.
void check_segments(BigEndian& from, uint16_t last, Grid& grid) {
  while (true) {
    BigEndian ahead = from;
    const auto marker = ahead.next<uint16_t>();
    if (marker == last) return;
    const auto length = ahead.next<uint16_t>();
    if (marker <= kSize || marker == kTilePart || marker == kData || marker == kEnd || length < 2) damaged_header();
    const std::string_view segment = ahead.take(length - 2U);
    if (marker == kCoding) grid.check_coding(segment);
    if (marker == kComponentCoding) grid.check_component_coding(segment);
    from = ahead;
  }
}

void check_code(std::string_view bytes) {
  BigEndian from(bytes);
  if (from.next<uint16_t>() != kStart || from.next<uint16_t>() != kSize) damaged_header();
  const auto size = from.next<uint16_t>();
  if (size < 2) damaged_header();
  Grid grid(from.take(size - 2U));
  check_segments(from, kTilePart, grid);
  while (from.rest().size() >= 12) {
    const std::string_view part = from.rest();
    const auto marker = from.next<uint16_t>();
    if (marker == kEnd) break;
    if (marker != kTilePart) fail("damaged JPEG 2000 (its tiles are not contiguous)");
    from.next<uint16_t>();  // the segment's length
    grid.see(from.next<uint16_t>());
    const uint64_t length = from.next<uint32_t>();
    from.next<uint16_t>();
    check_segments(from, kData, grid);
    const auto header = static_cast<uint64_t>(from.rest().data() - part.data());
    if (length == 0 || length > part.size()) break;
    if (length < header) damaged_header();
    from.take(length - header);
  }
  grid.check_all_seen();
}

}  // namespace
}  // namespace jpeg_2000

void check_jpeg_2000_structure(std::string_view bytes) {
  if (bytes.empty()) jpeg_2000::damaged_header();
  jpeg_2000::check_code(bytes[0] == '\0' ? jpeg_2000::code_in(bytes) : bytes);
}

}  // namespace protocom::codec
