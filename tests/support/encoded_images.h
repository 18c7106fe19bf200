#pragma once
// clang-format off
#include <cstdio>  // jpeglib.h needs FILE
#include <jpeglib.h>
// clang-format on

#include <png.h>
#include <webp/encode.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/painted_images.h"

/// Files made with the codecs' own encoders, or by hand.
namespace protocom::testing {

struct JpegSpec {
  int64_t height = 0, width = 0;
  int components = 3;
  J_COLOR_SPACE input = JCS_RGB, stored = JCS_YCbCr;
  bool adobe = false, progressive = false;
  std::string exif;
};

inline std::string make_jpeg(const std::vector<uint8_t>& samples, const JpegSpec& spec) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = static_cast<JDIMENSION>(spec.width);
  info.image_height = static_cast<JDIMENSION>(spec.height);
  info.input_components = spec.components;
  info.in_color_space = spec.input;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, spec.stored);
  jpeg_set_quality(&info, 98, TRUE);
  info.write_Adobe_marker = spec.adobe ? TRUE : FALSE;
  if (spec.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  if (!spec.exif.empty()) {
    jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(spec.exif.data()),
                      static_cast<unsigned>(spec.exif.size()));
  }
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(samples.data() + size_t{info.next_scanline} * info.image_width *
                                                          static_cast<size_t>(spec.components));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string bytes(reinterpret_cast<const char*>(buffer), size);
  jpeg_destroy_compress(&info);
  std::free(buffer);
  return bytes;
}

inline std::string make_rgb_jpeg(const Image& image, const std::string& exif = "") {
  JpegSpec spec;
  spec.height = image.height;
  spec.width = image.width;
  spec.exif = exif;
  return make_jpeg(image.rgb, spec);
}

/// Returns the TIFF structure of EXIF, made by hand: one directory with only the orientation.
inline std::string make_exif(int orientation, const std::string& byte_order) {
  const bool big = byte_order == "MM";
  const auto number = [&](unsigned value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>((value >> (8 * (big ? bytes - 1 - i : i))) & 255));
    return text;
  };
  return byte_order + number(42, 2) + number(8, 4) + number(1, 2) + number(0x0112, 2) + number(3, 2) + number(1, 4) +
         number(static_cast<unsigned>(orientation), 2) + number(0, 2) + number(0, 4);
}

struct PngSpec {
  uint32_t height = 0, width = 0;
  int depth = 8;
  int colour = PNG_COLOR_TYPE_RGB;
  int interlace = PNG_INTERLACE_NONE;
  std::vector<png_color> palette;
  std::vector<png_byte> palette_alpha;
  std::string exif;
};

inline void append_to_string(png_structp png, png_bytep data, size_t count) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(data), count);
}

inline std::string make_png(std::vector<uint8_t> rows, const PngSpec& spec) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  std::string bytes;
  png_set_write_fn(png, &bytes, append_to_string, nullptr);
  png_set_IHDR(png, info, spec.width, spec.height, spec.depth, spec.colour, spec.interlace, 0, 0);
  if (!spec.palette.empty()) png_set_PLTE(png, info, spec.palette.data(), static_cast<int>(spec.palette.size()));
  if (!spec.palette_alpha.empty()) {
    png_set_tRNS(png, info, spec.palette_alpha.data(), static_cast<int>(spec.palette_alpha.size()), nullptr);
  }
  std::string exif = spec.exif;
  if (!exif.empty())
    png_set_eXIf_1(png, info, static_cast<png_uint_32>(exif.size()), reinterpret_cast<png_bytep>(exif.data()));
  std::vector<png_bytep> pointers;
  for (uint32_t y = 0; y < spec.height; ++y) pointers.push_back(rows.data() + y * (rows.size() / spec.height));
  png_set_rows(png, info, pointers.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

inline std::string make_webp(const Image& image) {
  uint8_t* out = nullptr;
  const size_t size = WebPEncodeLosslessRGB(image.rgb.data(), static_cast<int>(image.width),
                                            static_cast<int>(image.height), static_cast<int>(image.width * 3), &out);
  std::string bytes(reinterpret_cast<char*>(out), size);
  WebPFree(out);
  return bytes;
}

inline std::string make_bmp(const Image& image) {
  const auto number = [](int64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(i < 8 ? (value >> (8 * i)) & 255 : 0));
    return text;
  };
  const int64_t stride = (image.width * 3 + 3) / 4 * 4;
  std::string bytes = "BM" + number(54 + stride * image.height, 4) + number(0, 4) + number(54, 4) + number(40, 4) +
                      number(image.width, 4) + number(image.height, 4) + number(1, 2) + number(24, 2) +
                      std::string(24, '\0');
  for (int64_t y = image.height - 1; y >= 0; --y) {
    std::string row;
    for (int64_t x = 0; x < image.width; ++x) {
      const Pixel p = pixel(image, y, x);
      for (const int value : {p[2], p[1], p[0]}) row.push_back(static_cast<char>(value));
    }
    row.resize(static_cast<size_t>(stride), '\0');
    bytes += row;
  }
  return bytes;
}

}  // namespace protocom::testing
