#pragma once
// clang-format off
#include <cstdio>  // jpeglib.h needs FILE
#include <jpeglib.h>
// clang-format on

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace protocom::testing {

/// Returns a grey image made by repeating one row of blocks from an encoder: each repetition starts after a restart
/// marker.
inline std::string grey_jpeg(int64_t width, int64_t height, uint8_t shade) {
  constexpr int64_t kBlock = 8;
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = kBlock;
  info.input_components = 1;
  info.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  info.restart_in_rows = 1;
  jpeg_start_compress(&info, TRUE);
  std::vector<uint8_t> grey(static_cast<size_t>(width), shade);
  JSAMPROW row = grey.data();
  while (info.next_scanline < info.image_height) jpeg_write_scanlines(&info, &row, 1);
  jpeg_finish_compress(&info);
  std::string bytes(reinterpret_cast<const char*>(buffer), size - 2);  // without the end marker
  jpeg_destroy_compress(&info);
  std::free(buffer);
  const size_t frame = bytes.find("\xff\xc0"), scan = bytes.find("\xff\xda") + 10;  // of one component
  bytes[frame + 5] = static_cast<char>(height >> 8);
  bytes[frame + 6] = static_cast<char>(height & 255);
  const std::string blocks = bytes.substr(scan);
  for (int64_t r = 0; r + 1 < (height + kBlock - 1) / kBlock; ++r)
    bytes += std::string{'\xff', static_cast<char>(0xd0 + r % 8)} + blocks;
  return bytes + "\xff\xd9";
}

}  // namespace protocom::testing
