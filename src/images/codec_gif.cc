#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "images/codec.h"

namespace protocom::codec {
namespace {

int read_bytes(GifFileType* file, GifByteType* to, int count) {
  auto& rest = *static_cast<std::string_view*>(file->UserData);
  const size_t taken = std::min(rest.size(), static_cast<size_t>(std::max(count, 0)));
  std::memcpy(to, rest.data(), taken);
  rest.remove_prefix(taken);
  return static_cast<int>(taken);
}

[[noreturn]] void fail_with(int code) {
  const char* reason = GifErrorString(code);
  fail("damaged GIF ({})", reason == nullptr ? "no image" : reason);
}

using GifFile = std::unique_ptr<GifFileType, void (*)(GifFileType*)>;

void check(const GifFile& file, int result) {
  if (result == GIF_ERROR) fail_with(file->Error);
}

/// Reads an extension; returns the index of the transparent colour, if it states one.
int skip_extension(const GifFile& file, int clear) {
  int code = 0;
  GifByteType* block = nullptr;
  check(file, DGifGetExtension(file.get(), &code, &block));
  while (block != nullptr) {
    GraphicsControlBlock control;
    if (code == GRAPHICS_EXT_FUNC_CODE && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
      clear = control.TransparentColor;
    check(file, DGifGetExtensionNext(file.get(), &block));
  }
  return clear;
}

/// Returns the rows of an image in the order in which they are stored.
std::vector<int> stored_rows(const GifImageDesc& frame) {
  std::vector<int> rows;
  constexpr int kPasses[][2] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  for (const auto& [first, step] : kPasses) {
    for (int y = first; frame.Interlace && y < frame.Height; y += step) rows.push_back(y);
  }
  for (int y = 0; !frame.Interlace && y < frame.Height; ++y) rows.push_back(y);
  return rows;
}

/// Paints the first image on a white canvas.
Image paint_frame(const GifFile& file, int clear, const DecodeOptions& options) {
  check(file, DGifGetImageDesc(file.get()));
  const GifImageDesc& frame = file->Image;
  check_size(frame.Height, frame.Width, {0, options.max_pixels});  // a part of the canvas
  const int64_t width = std::max<int64_t>(file->SWidth, frame.Left + frame.Width);
  const int64_t height = std::max<int64_t>(file->SHeight, frame.Top + frame.Height);
  check_size(height, width, options);
  const ColorMapObject* colours = frame.ColorMap != nullptr ? frame.ColorMap : file->SColorMap;
  if (colours == nullptr) fail("damaged GIF (no colours)");
  Image image{height, width, std::vector<uint8_t>(static_cast<size_t>(3 * height * width), 255)};
  std::vector<GifPixelType> line(static_cast<size_t>(frame.Width));
  for (const int y : stored_rows(frame)) {
    check(file, DGifGetLine(file.get(), line.data(), frame.Width));
    uint8_t* pixel = image.rgb.data() + 3 * ((frame.Top + y) * width + frame.Left);
    for (const GifPixelType index : line) {
      if (index != clear && index < colours->ColorCount) {
        const GifColorType& colour = colours->Colors[index];
        pixel[0] = colour.Red;
        pixel[1] = colour.Green;
        pixel[2] = colour.Blue;
      }
      pixel += 3;
    }
  }
  return image;
}

}  // namespace

Decoded decode_gif(std::string_view bytes, const DecodeOptions& options) {
  int code = 0;
  const GifFile file(DGifOpen(&bytes, &read_bytes, &code), [](GifFileType* type) { DGifCloseFile(type, nullptr); });
  if (file == nullptr) fail_with(code);
  int clear = NO_TRANSPARENT_COLOR;
  for (;;) {
    GifRecordType record = UNDEFINED_RECORD_TYPE;
    check(file, DGifGetRecordType(file.get(), &record));
    if (record == IMAGE_DESC_RECORD_TYPE) return {paint_frame(file, clear, options), 1};
    if (record != EXTENSION_RECORD_TYPE) fail("damaged GIF (no image)");
    clear = skip_extension(file, clear);
  }
}

}  // namespace protocom::codec
