#include "images/capture_time.h"

#include <gtest/gtest.h>

#include <string>

#include "images/image.h"

namespace protocom::testing {
namespace {

/// Numbers of a TIFF file in one byte order.
struct Tiff {
  bool is_big;

  std::string number(uint32_t value, int size) const {
    std::string bytes;
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> 8 * (is_big ? size - 1 - i : i)));
    return bytes;
  }
  std::string entry(uint32_t tag, uint32_t type, uint32_t count, uint32_t value) const {
    return number(tag, 2) + number(type, 2) + number(count, 4) + number(value, 4);
  }
  /// Returns a directory with the date and the fraction of a second (EXIF 2.32, section 4.6.5), after the main one.
  std::string with_time(const std::string& time, const std::string& fraction) const {
    constexpr uint32_t kAscii = 2, kLong = 4, kMain = 8, kExif = kMain + 2 + 12 + 4, kText = kExif + 2 + 2 * 12 + 4;
    std::string made = (is_big ? "MM" : "II") + number(42, 2) + number(kMain, 4);
    made += number(1, 2) + entry(0x8769, kLong, 1, kExif) + number(0, 4);
    made += number(2, 2) + entry(0x9003, kAscii, static_cast<uint32_t>(time.size()) + 1, kText);
    std::string in_place = fraction;
    in_place.resize(4);
    made += number(0x9291, 2) + number(kAscii, 2) + number(static_cast<uint32_t>(fraction.size()) + 1, 4) + in_place;
    return made + number(0, 4) + time + '\0';
  }
};

std::string jpeg_with(const std::string& exif) {
  const std::string plain = encode_jpeg({8, 8, std::vector<uint8_t>(192, 90)}, 90);
  const std::string segment = std::string("Exif\0\0", 6) + exif;
  return plain.substr(0, 2) + "\xFF\xE1" + Tiff{true}.number(static_cast<uint32_t>(segment.size()) + 2, 2) + segment +
         plain.substr(2);
}

TEST(CaptureTime, IsReadInBothByteOrders) {
  for (const bool is_big : {false, true}) {
    const auto time = capture_time(jpeg_with(Tiff{is_big}.with_time("2024:05:17 06:30:01", "37")));
    ASSERT_TRUE(time.has_value());
    EXPECT_DOUBLE_EQ(*time, 1715927401.37) << "date -u -d '2024-05-17 06:30:01' +%s";
  }
}

TEST(CaptureTime, CountsLeapDays) {
  const auto day = [](const char* time) { return *capture_time(jpeg_with(Tiff{false}.with_time(time, ""))); };
  EXPECT_EQ(day("2000:03:01 00:00:01") - day("2000:02:28 00:00:01"), 2 * 86400);
  EXPECT_EQ(day("1900:03:01 00:00:01") - day("1900:02:28 00:00:01"), 86400);
  EXPECT_EQ(day("1970:01:01 00:00:01"), 1);
}

TEST(CaptureTime, IsNothingWhereNoneIsSaid) {
  for (const char* time :
       {"0000:00:00 00:00:01", "    :  :     :  :  ", "2024:13:01 00:00:01", "2024:05:17", "", "2024:05:17 00:00:00"})
    EXPECT_FALSE(capture_time(jpeg_with(Tiff{false}.with_time(time, ""))).has_value()) << time;
  EXPECT_FALSE(capture_time(encode_jpeg({8, 8, std::vector<uint8_t>(192, 90)}, 90)).has_value());
  EXPECT_FALSE(capture_time("").has_value());
  EXPECT_FALSE(capture_time(std::string("Exif\0\0II*\0", 10)).has_value()) << "cut off";
}

TEST(CaptureTime, IsFoundWhereverTheMarkStands) {
  const std::string exif = Tiff{true}.with_time("2024:05:17 06:30:01", "");
  EXPECT_TRUE(capture_time("a HEIC file..." + std::string("Exif\0\0", 6) + exif).has_value());
  EXPECT_TRUE(capture_time("a PNG file...eXIf" + exif).has_value());
  EXPECT_TRUE(
      capture_time(std::string("Exif\0\0", 6) + "no TIFF header" + std::string("Exif\0\0", 6) + exif).has_value());
}

TEST(CaptureTime, ReadsDamagedDataWithoutHarm) {
  const std::string whole = jpeg_with(Tiff{false}.with_time("2024:05:17 06:30:01", "37"));
  for (size_t length = 0; length < whole.size() && length < 160; ++length)
    static_cast<void>(capture_time(whole.substr(0, length)));
  for (size_t at = 12; at < 100; ++at) {
    std::string changed = whole;
    changed[at] = '\xFF';
    static_cast<void>(capture_time(changed));
  }
}

}  // namespace
}  // namespace protocom::testing
