#include <algorithm>
#include <vector>

#include "images/codec.h"

namespace protocom::codec {
namespace {

using namespace std::string_view_literals;

/// Cameras write their directories before their images.
constexpr size_t kMostOfHeader = size_t{64} << 10;

bool begins_with(std::string_view bytes, std::string_view mark) { return bytes.substr(0, mark.size()) == mark; }

bool begins_with_any(std::string_view bytes, std::initializer_list<std::string_view> marks) {
  return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) { return begins_with(bytes, mark); });
}

bool is_tiff_header(std::string_view bytes) { return begins_with_any(bytes, {"II*\0"sv, "MM\0*"sv}); }

/// Whether it is Olympus (ORF, of three kinds) or Panasonic (RW2): TIFF with marks of their own.
bool is_marked_tiff(std::string_view bytes) {
  return begins_with_any(bytes, {"IIRO"sv, "IIRS"sv, "MMOR"sv, "IIU\0"sv});
}

bool is_cr2(std::string_view bytes) {
  return begins_with(bytes, "II*\0"sv) && bytes.size() > 10 && begins_with(bytes.substr(8), "CR");
}

bool is_cr3(std::string_view bytes) { return bytes.size() > 4 && begins_with(bytes.substr(4), "ftypcrx "); }

/// Returns the content of a metadata box in a CR3, whose metadata boxes come first (github.com/lclevy/canon_cr3).
std::string_view box_of_cr3(std::string_view bytes, std::string_view name) {
  const size_t at = bytes.substr(0, kMostOfHeader).find(name);
  return at == std::string_view::npos ? "" : bytes.substr(at + name.size(), kMostOfHeader);
}

/// A JPEG inside a file.
struct Preview {
  size_t at = 0;
  int64_t pixels = 0;
};

int64_t number_at(std::string_view bytes, size_t at) {
  return (static_cast<uint8_t>(bytes[at]) << 8) | static_cast<uint8_t>(bytes[at + 1]);
}

/// Whether a segment may precede the one with the size: tables, application data and comments.
bool may_lead(int64_t marker) {
  return marker == 0xffc4 || marker == 0xffcc || marker == 0xffdb || marker == 0xffdd || marker == 0xfffe ||
         (marker >= 0xffe0 && marker <= 0xffef);
}

/// Returns the number of pixels of the JPEG at the beginning of these bytes (ITU-T T.81, annex B), from its headers; 0:
/// there is none, or one of another kind than previews: many files store raw data as lossless JPEG.
int64_t pixels_of_jpeg(std::string_view bytes) {
  constexpr int kMostSegments = 64;
  size_t at = 2;
  for (int i = 0; i < kMostSegments && at + 10 <= bytes.size(); ++i) {
    const int64_t marker = number_at(bytes, at), length = number_at(bytes, at + 2);
    if (marker >= 0xffc0 && marker <= 0xffc2) {
      const int components = static_cast<uint8_t>(bytes[at + 9]);
      const bool is_usual = bytes[at + 4] == 8 && (components == 1 || components == 3) && length == 8 + 3 * components;
      return is_usual ? number_at(bytes, at + 5) * number_at(bytes, at + 7) : 0;
    }
    if (!may_lead(marker) || length < 2) return 0;
    at += 2 + static_cast<size_t>(length);
  }
  return 0;
}

/// Returns the previews, largest first, by searching: most formats have no published description.
std::vector<Preview> find_previews(std::string_view bytes, const std::vector<uint64_t>& left_out) {
  constexpr std::string_view kStart = "\xff\xd8\xff";
  constexpr int kMostStarts = 1 << 16;
  std::vector<Preview> found;
  // find() takes many times as long if all bytes are 0xff.
  const auto next = [&](auto from) { return std::search(from, bytes.end(), kStart.begin(), kStart.end()); };
  auto start = next(bytes.begin());
  for (int i = 0; i < kMostStarts && start != bytes.end(); ++i, start = next(start + 1)) {
    const auto at = static_cast<size_t>(start - bytes.begin());
    const int64_t pixels = pixels_of_jpeg(bytes.substr(at));
    if (pixels > 0 && !std::binary_search(left_out.begin(), left_out.end(), at)) found.push_back({at, pixels});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.pixels > b.pixels; });
  return found;
}

}  // namespace

bool is_raw(std::string_view bytes) {
  return is_marked_tiff(bytes) || is_cr2(bytes) || is_cr3(bytes) || begins_with_any(bytes, {"FUJIFILMCCD-RAW", "FOVb"});
}

std::string exif_of_raw(std::string_view bytes, ExifPart part) {
  if (is_cr3(bytes)) return std::string(box_of_cr3(bytes, part == ExifPart::kImage ? "CMT1" : "CMT2"));
  if (!is_tiff_header(bytes) && !is_marked_tiff(bytes)) return "";
  std::string header(bytes.substr(0, kMostOfHeader));
  header.replace(2, 2, header.front() == 'I' ? "*\0"sv : "\0*"sv);
  return header;
}

std::optional<Decoded> decode_preview(std::string_view bytes, const RawPhoto& raw, const DecodeOptions& options) {
  constexpr int kMostTried = 4;
  std::optional<Error> reason;
  int tried = 0;
  for (const Preview& preview : find_previews(bytes, raw.tiles)) {
    if (tried++ == kMostTried) break;
    try {
      Decoded decoded = decode_jpeg(bytes.substr(preview.at), options);
      if (decoded.orientation == 0) decoded.orientation = raw.orientation;
      decoded.is_preview = true;
      return decoded;
    } catch (const Error& error) {
      if (!reason) reason = error;
    }
  }
  if (reason) throw Error(*reason);
  return std::nullopt;
}

Decoded decode_raw(std::string_view bytes, const DecodeOptions& options) {
  RawPhoto raw;
  raw.orientation = exif_orientation(exif_of_raw(bytes, ExifPart::kImage));
  std::optional<Decoded> preview = decode_preview(bytes, raw, options);
  if (!preview) fail("{}", kNoPreview);
  return std::move(*preview);
}

}  // namespace protocom::codec
