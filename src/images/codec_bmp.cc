#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#include <stb_image.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "images/codec.h"

namespace protocom::codec {
namespace {

/// Passes the bytes to stb_image and records reads past their end, where stb_image itself reads zeros.
struct BmpSource {
  std::string_view left;
  bool truncated = false;
};

int on_read(void* user, char* out, int count) {
  auto& source = *static_cast<BmpSource*>(user);
  const size_t given = std::min(static_cast<size_t>(count), source.left.size());
  source.truncated |= given == 0;
  std::memcpy(out, source.left.data(), given);
  source.left.remove_prefix(given);
  return static_cast<int>(given);
}

void on_skip(void* user, int count) {
  auto& source = *static_cast<BmpSource*>(user);
  source.left.remove_prefix(std::min(static_cast<size_t>(std::max(count, 0)), source.left.size()));
}

int on_end(void* user) { return static_cast<BmpSource*>(user)->left.empty() ? 1 : 0; }

constexpr stbi_io_callbacks kCallbacks = {on_read, on_skip, on_end};

[[noreturn]] void fail_to_decode(const BmpSource& source) {
  if (source.truncated) fail("truncated BMP");
  fail("damaged or unsupported BMP: {}", stbi_failure_reason());
}

/// The Windows header (BITMAPINFOHEADER and its successors), or zeros.
struct BmpHeader {
  size_t pixels_at = 0;
  size_t size = 0;
  size_t bits = 0;  ///< per pixel
  size_t compression = 0;
  size_t colours = 0;  ///< in the palette
};

constexpr size_t kFileHeader = 14, kFewestOfHeader = 40;
constexpr size_t kPlain = 0, kRunsOfBytes = 1, kRunsOfHalfBytes = 2, kMasked = 3;  // values of `compression`

size_t number_at(std::string_view bytes, size_t at, size_t size) {
  size_t value = 0;
  while (size-- > 0) value = value << 8 | static_cast<uint8_t>(bytes[at + size]);
  return value;
}

BmpHeader header_of(std::string_view bytes) {
  if (bytes.size() < kFileHeader + kFewestOfHeader) return {};
  const BmpHeader header{number_at(bytes, 10, 4), number_at(bytes, 14, 4), number_at(bytes, 28, 2),
                         number_at(bytes, 30, 4), number_at(bytes, 46, 4)};
  return header.size < kFewestOfHeader ? BmpHeader{} : header;
}

/// Returns the earliest position of the pixels: after the header, masks of three colours if it does not contain them,
/// and the palette.
size_t end_of_header(const BmpHeader& header) {
  const size_t masks = header.compression == kMasked && header.size == kFewestOfHeader ? 12 : 0;
  const size_t palette = header.bits > 8 ? 0 : header.colours > 0 ? header.colours : size_t{1} << header.bits;
  return kFileHeader + header.size + masks + 4 * palette;
}

/// Returns the image without data between header and pixels (a palette of a true-colour image, or a gap), which
/// stb_image rejects; empty if there is none.
std::string without_gap(std::string_view bytes, const BmpHeader& header) {
  const size_t end = end_of_header(header);
  if (header.size == 0 || end >= header.pixels_at || header.pixels_at >= bytes.size()) return {};
  std::string whole(bytes.substr(0, end));
  for (size_t i = 0; i < 4; ++i) whole[10 + i] = static_cast<char>(end >> 8 * i & 255);
  return whole.append(bytes.substr(header.pixels_at));
}

}  // namespace

Decoded decode_bmp(std::string_view bytes, const DecodeOptions& options) {
  const BmpHeader stated = header_of(bytes);
  if (stated.compression == kRunsOfBytes || stated.compression == kRunsOfHalfBytes)
    fail("unsupported BMP (run-length encoded)");
  const std::string whole = without_gap(bytes, stated);
  if (!whole.empty()) bytes = whole;
  int width = 0;
  int height = 0;
  int channels = 0;
  BmpSource header{bytes};
  if (stbi_info_from_callbacks(&kCallbacks, &header, &width, &height, &channels) == 0) fail_to_decode(header);
  if (height == std::numeric_limits<int>::min()) fail("damaged BMP: a height of {}", height);
  check_size(std::abs(height), width, options);  // if negative, the rows run from top to bottom
  BmpSource source{bytes};
  const std::unique_ptr<stbi_uc, void (*)(void*)> rgba(
      stbi_load_from_callbacks(&kCallbacks, &source, &width, &height, &channels, 4), stbi_image_free);
  if (!rgba || source.truncated) fail_to_decode(source);
  // Without masks the fourth byte of a pixel is padding, whatever its value.
  if (stated.bits == 32 && stated.compression == kPlain) {
    for (int64_t i = 0; i < int64_t{height} * width; ++i) rgba.get()[4 * i + 3] = 255;
  }
  return {over_white(rgba.get(), height, width), 1};
}

}  // namespace protocom::codec
