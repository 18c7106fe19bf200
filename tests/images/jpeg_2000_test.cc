#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "base/error.h"
#include "images/image.h"
#include "io/files.h"
#include "support/message_of.h"
#include "support/most_memory.h"

namespace protocom::testing::jpeg_2000 {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMebibyte = int64_t{1} << 20;

std::string big_endian(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string golden(const std::string& name) {
  return read_file(std::filesystem::path(PROTOCOM_GOLDEN).parent_path() / "pictures" / name);
}

// Offsets of sizes in the header of a file that starts with the code stream (ISO/IEC 15444-1, A.5.1).
constexpr size_t kSides = 8, kTileSides = 24;

/// Returns quarters.j2k with another stated number of pixels and tile size.
std::string of_size(uint64_t side, uint64_t tile) {
  return golden("quarters.j2k")
      .replace(kSides, 8, big_endian(side, 4) + big_endian(side, 4))
      .replace(kTileSides, 8, big_endian(tile, 4) + big_endian(tile, 4));
}

/// Returns a segment COD (A.6.1) of six resolutions: code blocks of 2 to the power of `block` + 2 on both sides.
std::string coding(int layers, int block, const std::string& precincts) {
  const std::string content = big_endian(precincts.empty() ? 0 : 1, 1) + big_endian(0, 1) +
                              big_endian(static_cast<uint64_t>(layers), 2) + big_endian(1, 1) + big_endian(5, 1) +
                              std::string(2, static_cast<char>(block)) + big_endian(0, 1) + big_endian(1, 1) +
                              precincts;
  return "\xff\x52" + big_endian(content.size() + 2, 2) + content;
}

/// Replaces its own COD.
std::string with_coding(std::string code, const std::string& segment) {
  const size_t at = code.find("\xff\x52");
  const size_t length = static_cast<uint8_t>(code[at + 3]);  // below 256
  return code.replace(at, length + 2, segment);
}

class Jpeg2000 : public ::testing::Test {
 protected:
  std::string refusal(const std::string& bytes) {
    std::string message;
    memory_ = most_memory_of([&] { message = message_of([&] { decode_image(bytes); }); });
    return message;
  }
  int64_t memory_ = 0;
};

TEST_F(Jpeg2000, OfMoreTilesThanAnyoneMakesIsRefusedBeforeItTakesMemory) {
  EXPECT_THAT(refusal(of_size(10'000, 40)), HasSubstr("more than 4096 tiles"));
  EXPECT_LT(memory_, 16 * kMebibyte);
  EXPECT_THAT(refusal(of_size(10'000, 1)), HasSubstr("more than 4096 tiles"));
  std::string boxed = golden("quarters.jp2");
  const size_t code = boxed.find("\xff\x4f\xff\x51");
  boxed.replace(code + kTileSides, 8, big_endian(1, 4) + big_endian(1, 4)).replace(code + kSides, 4, "\0\0\xff\xff", 4);
  EXPECT_THAT(refusal(boxed), HasSubstr("more than 4096 tiles"));
}

TEST_F(Jpeg2000, OfMorePrecinctsThanItsPixelsNeedIsRefused) {
  const std::string code = of_size(8000, 8000);
  EXPECT_THAT(refusal(with_coding(code, coding(1, 4, std::string(6, '\x11')))), HasSubstr("precincts"));
  EXPECT_LT(memory_, 16 * kMebibyte);
  EXPECT_THAT(refusal(with_coding(code, coding(1, 0, ""))), HasSubstr("code blocks of 16 pixels"));
  EXPECT_LT(memory_, 16 * kMebibyte);
  EXPECT_THAT(refusal(with_coding(code, coding(65535, 4, std::string(6, '\x77')))), HasSubstr("65535 layers"));
  EXPECT_LT(memory_, 16 * kMebibyte);
}

// They would be grey in the picture.
TEST_F(Jpeg2000, ThatLacksTilesIsTruncated) {
  const std::string sides = big_endian(24, 4) + big_endian(16, 4);
  EXPECT_THAT(refusal(golden("quarters.j2k").replace(kTileSides, 8, sides)), HasSubstr("3 of its 4 tiles are missing"));
  std::string other = golden("quarters.j2k");
  const size_t part = other.find("\xff\x90");
  EXPECT_THAT(refusal(other.replace(part + 4, 2, "\0\1", 2)), HasSubstr("damaged JPEG 2000"));
}

// The header of each tile may override that of the file.
TEST_F(Jpeg2000, IsHeldAgainstTheHeadersOfItsTilesToo) {
  const std::string segment = coding(1, 4, std::string(6, '\x11'));
  std::string code = of_size(8000, 8000);
  const size_t part = code.find("\xff\x90");
  code.replace(part + 6, 4, big_endian(code.size() + segment.size() - part - 2, 4)).insert(part + 12, segment);
  EXPECT_THAT(refusal(code), HasSubstr("precincts"));
  std::string second = golden("quarters.j2k");
  second.insert(second.size() - 2, code.substr(part));
  EXPECT_THAT(refusal(second), HasSubstr("JPEG 2000"));
  second = golden("quarters.j2k");
  EXPECT_THAT(refusal(second.replace(part + 6, 4, big_endian(40, 4))), HasSubstr("tiles are not contiguous"));
}

// With one channel of indices and a palette of 255, an image of each of its channels would be made.
TEST_F(Jpeg2000, OfAPaletteOfMoreChannelsThanColoursIsRefused) {
  std::string boxed = golden("grey.jp2");
  const size_t header = boxed.find("jp2h") - 4;
  std::string palette = big_endian(1, 2) + big_endian(255, 1) + std::string(255, '\7') + std::string(255, '\0');
  palette = big_endian(palette.size() + 8, 4) + "pclr" + palette;
  std::string map;
  for (int i = 0; i < 255; ++i) map += big_endian(0, 2) + big_endian(1, 1) + big_endian(static_cast<uint64_t>(i), 1);
  map = big_endian(map.size() + 8, 4) + "cmap" + map;
  uint64_t length = 0;
  for (int i = 0; i < 4; ++i) length = length << 8 | static_cast<uint8_t>(boxed[header + static_cast<size_t>(i)]);
  boxed.insert(header + length, palette + map).replace(header, 4, big_endian(length + palette.size() + map.size(), 4));
  EXPECT_THAT(refusal(boxed), HasSubstr("255 channels"));
}

TEST_F(Jpeg2000, OfBoxesThatLeadNowhereIsRefused) {
  const std::string signature = golden("grey.jp2").substr(0, 12);
  std::string many = signature;
  for (int i = 0; i < 5000; ++i) many += big_endian(8, 4) + "free";
  EXPECT_THAT(refusal(many), HasSubstr("damaged JPEG 2000"));
  EXPECT_THAT(refusal(signature), HasSubstr("damaged JPEG 2000"));
  EXPECT_THAT(refusal(signature + big_endian(3, 4) + "jp2h"), HasSubstr("damaged JPEG 2000"));
  EXPECT_THAT(refusal(signature + big_endian(1, 4) + "jp2h" + std::string(8, '\xff')), HasSubstr("damaged JPEG 2000"));
}

}  // namespace
}  // namespace protocom::testing::jpeg_2000
