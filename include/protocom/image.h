#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "protocom/export.h"

namespace protocom::v0 {

/// An image in one of three forms: a file, the bytes of a file, or pixels. The format (JPEG, PNG, WebP, HEIC, AVIF,
/// TIFF, GIF, BMP and more) is detected from the bytes. Bytes and pixels are copied; a file is read when the image is
/// used. Copies share their memory.
class PROTOCOM_API Image {
 public:
  Image(const std::string& path);  // NOLINT: a path is an image
  Image(const char* path);         // NOLINT
  /// Makes an image of the bytes of a file. Throws Error for a null pointer or no bytes.
  static Image encoded(const void* bytes, size_t size);
  static Image encoded(const std::string& bytes);
  /// Makes an image of pixels uint8 [height, width, 3], RGB, rows from top to bottom; `stride`: bytes from one row to
  /// the next, 0: 3 width. Throws Error for a null pointer, a side below 1 and a stride below a row's bytes.
  static Image rgb(const uint8_t* pixels, int64_t height, int64_t width, int64_t stride = 0);

  struct Impl;
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  explicit Image(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace protocom::v0
