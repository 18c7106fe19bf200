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

#include "codec.h"

namespace protocom::codec {
namespace {

/// Hands stb_image the bytes and notes when it asks for more than there are, which stb_image itself takes for zeros.
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
  fail("damaged or unusual BMP: {}", stbi_failure_reason());
}

}  // namespace

Decoded decode_bmp(std::string_view bytes, const DecodeOptions& options) {
  int width = 0;
  int height = 0;
  int channels = 0;
  BmpSource header{bytes};
  if (stbi_info_from_callbacks(&kCallbacks, &header, &width, &height, &channels) == 0) fail_to_decode(header);
  if (height == std::numeric_limits<int>::min()) fail("damaged BMP: a height of {}", height);
  check_size(std::abs(height), width, options);  // below 0 the rows run from top to bottom
  BmpSource source{bytes};
  const std::unique_ptr<stbi_uc, void (*)(void*)> rgba(
      stbi_load_from_callbacks(&kCallbacks, &source, &width, &height, &channels, 4), stbi_image_free);
  if (!rgba || source.truncated) fail_to_decode(source);
  return {over_white(rgba.get(), height, width), 1};
}

}  // namespace protocom::codec
