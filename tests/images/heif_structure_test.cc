#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "images/detail/heif_decoders.h"
#include "images/image.h"
#include "io/files.h"
#include "support/message_of.h"
#include "support/most_memory.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

/// Returns 96 x 64 pixels from one tile, used four times.
std::string four_tiles() {
  return read_file(std::filesystem::path(PROTOCOM_GOLDEN).parent_path() / "pictures/four-tiles.avif");
}

std::string field(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 255);
  return text;
}

/// Returns a box of ISO/IEC 14496-12.
std::string box(const std::string& name, const std::string& content) {
  return field(8 + content.size(), 4) + name + content;
}

/// Returns a box with version and flags.
std::string full_box(const std::string& name, const std::string& content, int version = 0, int flags = 0) {
  return box(name, field(static_cast<uint64_t>(version), 1) + field(static_cast<uint64_t>(flags), 3) + content);
}

std::string items(const std::vector<std::string>& kinds) {
  std::string list = field(kinds.size(), 2);
  for (size_t i = 0; i < kinds.size(); ++i)
    list += full_box("infe", field(i + 1, 2) + field(0, 2) + kinds[i] + '\0', 2);
  return full_box("iinf", list);
}

/// Returns a file whose items are described by these boxes.
std::string file_of(const std::string& boxes) { return box("ftyp", "avif") + full_box("meta", boxes); }

/// Returns a box with references from one item to another.
std::string references(const std::vector<std::tuple<std::string, uint64_t, uint64_t>>& all) {
  std::string list;
  for (const auto& [kind, from, to] : all) list += box(kind, field(from, 2) + field(1, 2) + field(to, 2));
  return file_of(full_box("iref", list));
}

std::string message_for(const std::string& file) {
  return message_of([&] { codec::check_heif_structure(file); });
}

TEST(HeifStructure, OfAPictureThatNeedsItselfIsRefused) {
  EXPECT_NO_THROW(codec::check_heif_structure(references({{"auxl", 2, 1}, {"dimg", 1, 3}, {"cdsc", 1, 2}})));
  EXPECT_THAT(message_for(references({{"auxl", 2, 1}, {"auxl", 1, 2}})), HasSubstr("derived from itself"));
  EXPECT_THAT(message_for(references({{"auxl", 2, 1}, {"dimg", 2, 3}, {"auxl", 1, 3}, {"dimg", 1, 2}})),
              HasSubstr("derived from itself"));
  EXPECT_NO_THROW(codec::check_heif_structure(references({{"dimg", 1, 2}}).substr(0, 40))) << "cut short";
}

TEST(HeifStructure, OfMoreReferencesThanAFileCanHaveIsRefusedAtOnce) {
  std::vector<std::tuple<std::string, uint64_t, uint64_t>> many;
  for (uint64_t item = 0; item < 400'000; ++item) many.emplace_back("auxl", (item + 1) % 65536, item % 65536);
  EXPECT_THAT(message_for(references(many)), HasSubstr("too many references"));
  std::string everywhere;
  while (everywhere.size() < (size_t{4} << 20)) everywhere += "iref";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NO_THROW(codec::check_heif_structure(file_of(everywhere)));
  EXPECT_NO_THROW(codec::check_heif_structure(file_of(full_box("iref", everywhere))));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << "every place was read to the end";
}

// libheif 1.15 aborts by an assertion if a derived picture other than a grid is made from an item that is not an image.
TEST(HeifStructure, ADerivedImageOfANonImageIsRefused) {
  const auto made_of = [](const std::string& kind, uint64_t item) {
    const std::string reference = box("dimg", field(2, 2) + field(1, 2) + field(item, 2));
    return file_of(items({"av01", kind, "Exif"}) + full_box("iref", reference));
  };
  for (const char* kind : {"grid", "iden"}) {
    EXPECT_NO_THROW(codec::check_heif_structure(made_of(kind, 1))) << kind;
    EXPECT_THAT(message_for(made_of(kind, 2)), HasSubstr("derived from derived images")) << kind;
    for (const uint64_t item : {3, 9})
      EXPECT_THAT(message_for(made_of(kind, item)), HasSubstr("refers to an item that is not an image"))
          << kind << ' ' << item;
  }
  EXPECT_NO_THROW(codec::check_heif_structure(made_of("hvc1", 3)));
  EXPECT_THAT(message_for(made_of("iovl", 1)), HasSubstr("image overlay"));
}

TEST(HeifStructure, OfPicturesOfAnotherCodecIsRefusedByItsKinds) {
  EXPECT_NO_THROW(codec::check_heif_structure(file_of(items({"Exif", "hvc1"}))));
  EXPECT_THAT(message_for(file_of(items({"jpeg", "Exif"}))), HasSubstr("unsupported HEIF (Exif, jpeg)"));
}

TEST(HeifStructure, APictureMadeOfOneOtherIsRead) {
  std::string bytes = four_tiles();
  const auto set = [&](size_t at, uint64_t value, int size) {
    bytes.replace(at, static_cast<size_t>(size), field(value, size));
  };
  bytes.replace(bytes.find("grid"), 4, "iden");
  const size_t references = bytes.find("iref") - 4, left_out = 6;
  set(references, 26, 4);
  set(references + 12, 14, 4);
  set(references + 22, 1, 2);
  bytes.erase(references + 26, left_out);
  const size_t data = bytes.find("mdat") + 4;
  set(bytes.find("meta") - 4, 0x11c - left_out, 4);
  for (const size_t at : {data, data + 0x30}) set(bytes.find(field(at + left_out, 4)), at, 4);
  EXPECT_EQ(decode_image(bytes).width, 48);
}

/// Returns a file of one item with that many of each of three properties: its size, a rotation, a crop.
std::string turned(int sizes, int turns, int crops, bool wide) {
  const std::string properties = box("ispe", "") + box("irot", "") + box("clap", "");
  std::string used = field(1, 2) + field(static_cast<uint64_t>(sizes + turns + crops), 1);
  for (const auto& [property, times] : {std::pair{1, sizes}, {2, turns}, {3, crops}}) {
    for (int i = 0; i < times; ++i)
      used += field((wide ? 0x8000U : 0x80U) + static_cast<uint64_t>(property), wide ? 2 : 1);
  }
  return file_of(box("iprp", box("ipco", properties) + full_box("ipma", field(1, 4) + used, 0, wide ? 1 : 0)));
}

TEST(HeifStructure, OfAPictureThatIsTurnedAgainAndAgainIsRefused) {
  for (const bool wide : {false, true}) {
    EXPECT_NO_THROW(codec::check_heif_structure(turned(9, 2, 2, wide))) << wide;
    EXPECT_THAT(message_for(turned(1, 3, 2, wide)), HasSubstr("rotated repeatedly")) << wide;
  }
}

/// Returns a file of a picture and a grid, whose data is that many bytes of the file or of an `idat` box at that
/// offset.
std::string grid_at(const std::string& data, bool in_file) {
  const std::string before(7, 'x');
  const auto with = [&](uint64_t at) {
    const std::string half = field(data.size() / 2, 4), rest = field(data.size() - data.size() / 2, 4);
    const std::string method = field(in_file ? 0 : 1, 2);
    std::string all = field(2, 2);
    all += field(1, 2) + field(0, 2) + field(0, 2) + field(0, 4) + field(1, 2) + field(0, 4) + field(4, 4);
    all += field(2, 2) + method + field(0, 2) + field(at, 4) + field(2, 2) + field(0, 4) + half +
           field(data.size() / 2, 4) + rest;
    return file_of(items({"av01", "grid"}) + full_box("iloc", field(0x4440, 2) + all, 1) + box("idat", before + data));
  };
  const std::string file = with(0);
  return with(in_file ? file.find(before) + before.size() : before.size());
}

TEST(HeifStructure, TheCanvasOfTilesIsWhatTheirDataSays) {
  const std::string small = field(0, 4) + field(300, 2) + field(200, 2);
  const std::string large = field(0x00010000, 4) + field(70'000, 4) + field(50'000, 4);
  for (const bool in_file : {true, false}) {
    EXPECT_EQ(codec::heif_canvas_pixels(grid_at(small, in_file)), 300 * 200) << in_file;
    EXPECT_EQ(codec::heif_canvas_pixels(grid_at(large, in_file)), int64_t{70'000} * 50'000) << in_file;
  }
  EXPECT_EQ(codec::heif_canvas_pixels(file_of(items({"av01"}))), 0);
  EXPECT_EQ(codec::heif_canvas_pixels(four_tiles()), 96 * 64);
}

// 376 bytes that state 16,383 x 64 pixels and compose their tiles on 16,383 x 16,383: 1.2 GB and five seconds.
TEST(HeifStructure, ACanvasThatIsLargerThanTheImageIsRefusedBeforeItTakesMemory) {
  std::string bytes = four_tiles();
  bytes.replace(bytes.find(field(96, 4) + field(64, 4)), 8, field(16'383, 4) + field(64, 4));
  bytes.replace(bytes.size() - 8, 8, field(16'383, 4) + field(16'383, 4));
  DecodeOptions options;
  options.max_pixels = 1 << 22;
  std::string message;
  const int64_t memory = most_memory_of([&] { message = message_of([&] { decode_image(bytes, options); }); });
  EXPECT_THAT(message, HasSubstr("canvas has 268402689 pixels: expected at most"));
  EXPECT_LT(memory, int64_t{1} << 26);
  options.max_pixels = int64_t{1} << 28;
  int64_t left = 1 << 22;
  options.pixels_left = &left;
  EXPECT_THAT(message_of([&] { decode_image(bytes, options); }), HasSubstr("more than the limit for all images"));
}

}  // namespace
}  // namespace protocom::testing
