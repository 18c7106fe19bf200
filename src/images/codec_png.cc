#include <png.h>

#include <cstdio>
#include <cstring>

#include "images/codec.h"

namespace protocom {
namespace codec {
namespace {

struct PngSource {
  std::string_view bytes;
  size_t position = 0;
};

void on_error(png_structp png, png_const_charp text) {
  auto& trap = *static_cast<ErrorTrap*>(png_get_error_ptr(png));
  const bool ours = std::strstr(text, "PNG") != nullptr;
  std::snprintf(trap.message, sizeof(trap.message), "%s%s", ours ? "" : "damaged PNG: ", text);
  std::longjmp(trap.jump, 1);
}

void on_warning(png_structp /*png*/, png_const_charp /*text*/) {}

void on_read(png_structp png, png_bytep out, size_t count) {
  auto& source = *static_cast<PngSource*>(png_get_io_ptr(png));
  if (source.bytes.size() - source.position < count) png_error(png, "truncated PNG");
  std::memcpy(out, source.bytes.data() + source.position, count);
  source.position += count;
}

class PngReader {
 public:
  explicit PngReader(std::string_view bytes) : source_{bytes} {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &trap_, on_error, on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      fail("out of memory for a PNG");
    }
    png_set_read_fn(png_, &source_, on_read);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  void read_header() {
    run_trapped(trap_, [&] { png_read_info(png_, info_); });
  }

  /// Requests 8-bit RGB or RGBA, whatever is stored.
  void start() {
    run_trapped(trap_, [&] {
      png_set_expand(png_);
      png_set_scale_16(png_);
      if ((png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(png_);
      png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
  }

  void read_rows(png_bytepp rows) {
    run_trapped(trap_, [&] {
      png_read_image(png_, rows);
      png_read_end(png_, info_);
    });
  }

  [[nodiscard]] int64_t height() const { return png_get_image_height(png_, info_); }
  [[nodiscard]] int64_t width() const { return png_get_image_width(png_, info_); }
  [[nodiscard]] int64_t channels() const { return png_get_channels(png_, info_); }

  [[nodiscard]] std::string profile() {
    png_charp name = nullptr;
    int compression = 0;
    png_bytep bytes = nullptr;
    png_uint_32 size = 0;
    if (png_get_iCCP(png_, info_, &name, &compression, &bytes, &size) == 0) return "";
    return {reinterpret_cast<const char*>(bytes), size};
  }

  [[nodiscard]] int orientation() {
    png_uint_32 size = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(png_, info_, &size, &exif) == 0) return 1;
    return exif_orientation({reinterpret_cast<const char*>(exif), size});
  }

 private:
  PngSource source_;
  ErrorTrap trap_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

void read_pixels(PngReader& png, uint8_t* pixels) {
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < png.height(); ++y) rows.push_back(pixels + y * png.width() * png.channels());
  png.read_rows(rows.data());
}

void on_write(png_structp png, png_bytep data, size_t count) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(data), count);
}

void on_flush(png_structp /*png*/) {}

}  // namespace

Decoded decode_png(std::string_view bytes, const DecodeOptions& options) {
  PngReader png(bytes);
  png.read_header();
  check_size(png.height(), png.width(), options);
  png.start();
  if (png.channels() == 3) {
    Decoded decoded{blank_image(png.height(), png.width()), 1};
    read_pixels(png, decoded.image.rgb.data());
    decoded.orientation = png.orientation();
    decoded.profile = png.profile();
    return decoded;
  }
  if (png.channels() != 4) fail("damaged PNG: {} channels", png.channels());
  std::vector<uint8_t> rgba(static_cast<size_t>(png.height() * png.width() * 4));
  read_pixels(png, rgba.data());
  return {over_white(rgba.data(), png.height(), png.width()), png.orientation(), png.profile()};
}

}  // namespace codec

std::string encode_png(const Image& image) {
  codec::ErrorTrap trap;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &trap, codec::on_error, codec::on_warning);
  if (png == nullptr) fail("out of memory for a PNG");
  png_infop info = png_create_info_struct(png);
  std::string bytes;
  try {
    codec::run_trapped(trap, [&] {
      png_set_write_fn(png, &bytes, codec::on_write, codec::on_flush);
      png_set_IHDR(png, info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height), 8,
                   PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_write_info(png, info);
      for (int64_t y = 0; y < image.height; ++y) png_write_row(png, image.rgb.data() + y * image.width * 3);
      png_write_end(png, info);
    });
  } catch (...) {
    png_destroy_write_struct(&png, &info);
    throw;
  }
  png_destroy_write_struct(&png, &info);
  return bytes;
}

}  // namespace protocom
