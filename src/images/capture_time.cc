#include "images/capture_time.h"

#include <libexif/exif-data.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "base/error.h"
#include "images/codec.h"
#include "io/files.h"

namespace protocom {
namespace {

using ExifPointer = std::unique_ptr<ExifData, void (*)(ExifData*)>;

constexpr std::string_view kMark("Exif\0\0", 6);
constexpr size_t kMostOfExif = size_t{64} << 10;   // a JPEG segment is smaller; other formats mark no end
constexpr size_t kHeadOfJpeg = size_t{256} << 10;  // EXIF is its first segment, or follows a few others

bool begins_as_tiff(std::string_view bytes) {
  return bytes.substr(0, 4) == std::string_view("II*\0", 4) || bytes.substr(0, 4) == std::string_view("MM\0*", 4);
}

/// Returns the EXIF data after its mark, from the TIFF header on; PNG uses another mark than the other formats.
std::string_view exif_in(std::string_view bytes) {
  if (bytes.substr(0, 2) == "\xff\xd8") bytes = bytes.substr(0, kHeadOfJpeg);
  for (const std::string_view mark : {kMark, std::string_view("eXIf")}) {
    for (size_t at = bytes.find(mark); at != std::string_view::npos; at = bytes.find(mark, at + 1)) {
      const std::string_view data = bytes.substr(at + mark.size(), kMostOfExif);
      if (begins_as_tiff(data)) return data;
    }
  }
  return {};
}

ExifPointer read_exif(std::string_view tiff) {
  ExifPointer data(exif_data_new(), exif_data_unref);
  if (!data) return data;
  const std::string marked = std::string(kMark) + std::string(tiff);
  exif_data_unset_option(data.get(), EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
  exif_data_unset_option(data.get(), EXIF_DATA_OPTION_IGNORE_UNKNOWN_TAGS);  // needed in this directory: see text_in()
  exif_data_load_data(data.get(), reinterpret_cast<const unsigned char*>(marked.data()),
                      static_cast<unsigned>(marked.size()));
  return data;
}

/// Returns a tag's text, also from the wrong directory: a CR3 stores the EXIF directory as the first one.
std::string text_in(ExifData& data, ExifTag tag) {
  const ExifEntry* entry = exif_content_get_entry(data.ifd[EXIF_IFD_EXIF], tag);
  if (entry == nullptr) entry = exif_content_get_entry(data.ifd[EXIF_IFD_0], tag);
  if (entry == nullptr || entry->data == nullptr || entry->format != EXIF_FORMAT_ASCII) return {};
  const auto* text = reinterpret_cast<const char*>(entry->data);
  return {text, ::strnlen(text, entry->size)};
}

/// Returns the days since 1970-01-01 of a Gregorian date (Hinnant, "chrono-compatible low-level date algorithms").
int64_t days_since_1970(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

/// Parses "2024:05:17 06:30:01". Cameras whose clock was never set write zeros or spaces.
std::optional<double> parse_date_time(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (std::sscanf(text.c_str(), "%4d:%2d:%2d %2d:%2d:%2d", &year, &month, &day, &hour, &minute, &second) != 6)
    return std::nullopt;
  const bool is_date = year >= 1826 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
  const bool is_time = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
  if (!is_date || !is_time || (hour == 0 && minute == 0 && second == 0)) return std::nullopt;
  constexpr double kDay = 86400, kHour = 3600, kMinute = 60;
  return static_cast<double>(days_since_1970(year, month, day)) * kDay + hour * kHour + minute * kMinute + second;
}

/// Parses "37" as .37 s.
double parse_fraction(const std::string& digits) {
  double value = 0, place = 1;
  for (const char digit : digits) {
    if (std::isdigit(static_cast<unsigned char>(digit)) == 0) break;
    place /= 10;
    value += place * (digit - '0');
  }
  return value;
}

std::optional<double> time_in(std::string_view tiff) {
  if (tiff.empty()) return std::nullopt;
  const ExifPointer data = read_exif(tiff);
  if (!data) return std::nullopt;
  const std::optional<double> seconds = parse_date_time(text_in(*data, EXIF_TAG_DATE_TIME_ORIGINAL));
  if (!seconds) return std::nullopt;
  return *seconds + parse_fraction(text_in(*data, EXIF_TAG_SUB_SEC_TIME_ORIGINAL));
}

}  // namespace

std::optional<double> capture_time(std::string_view bytes) {
  const std::optional<double> time = time_in(codec::exif_of_raw(bytes, codec::ExifPart::kCapture));
  return time ? time : time_in(exif_in(bytes));
}

std::optional<double> capture_time_of(const std::filesystem::path& file) {
  try {
    return capture_time(MappedFile(file).bytes());
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace protocom
