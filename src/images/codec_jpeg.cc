// clang-format off
#include <cstdio>  // jpeglib.h needs FILE
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "images/codec.h"

namespace protocom {
namespace codec {
namespace {

constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr int kProfileMarker = JPEG_APP0 + 2;
/// Limit of scans: a progressive file may have any number, each as slow as the whole image. Encoders make 10, a tuned
/// one 20.
constexpr int kMostScans = 100;
constexpr int kScansOfLargest = 20;
constexpr int64_t kMostScannedPixels = 1'000'000'000;  // about 10 s

int scans_allowed(int64_t pixels) {
  return static_cast<int>(
      std::clamp<int64_t>(kMostScannedPixels / std::max<int64_t>(pixels, 1), kScansOfLargest, kMostScans));
}

struct JpegErrors {
  jpeg_error_mgr manager;  // first, so that libjpeg's pointer to it is a pointer to this
  ErrorTrap trap;
  bool in_header = true;
  bool ended_early = false;  ///< before its end mark
};

JpegErrors& errors_of(j_common_ptr info) { return *reinterpret_cast<JpegErrors*>(info->err); }

[[noreturn]] void leave(j_common_ptr info, const char* reason) {
  ErrorTrap& trap = errors_of(info).trap;
  std::snprintf(trap.message, sizeof(trap.message), "%s", reason);
  std::longjmp(trap.jump, 1);
}

[[noreturn]] void on_error(j_common_ptr info) {
  if (errors_of(info).ended_early) leave(info, "truncated JPEG");
  char text[JMSG_LENGTH_MAX];
  (*info->err->format_message)(info, text);
  char reason[JMSG_LENGTH_MAX + 16];
  std::snprintf(reason, sizeof(reason), "damaged JPEG: %s", text);
  leave(info, reason);
}

void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  // libjpeg only warns here and fills the missing part with grey. If only the end mark is missing, as at the end of
  // some downloads, nothing else is.
  const int code = info->err->msg_code;
  const bool at_end = code == JWRN_JPEG_EOF;
  if (code == JWRN_HIT_MARKER || (at_end && errors_of(info).in_header)) leave(info, "truncated JPEG");
  errors_of(info).ended_early |= at_end;
  ++info->err->num_warnings;
}

void on_progress(j_common_ptr info) {
  const auto* jpeg = reinterpret_cast<j_decompress_ptr>(info);
  if (jpeg->input_scan_number > scans_allowed(int64_t{jpeg->image_width} * jpeg->image_height))
    leave(info, "damaged JPEG: too many scans");
}

jpeg_error_mgr* set_up(JpegErrors& errors) {
  jpeg_std_error(&errors.manager);
  errors.manager.error_exit = on_error;
  errors.manager.emit_message = on_message;
  return &errors.manager;
}

class Decompressor {
 public:
  explicit Decompressor(std::string_view bytes) {
    info_.err = set_up(errors_);
    monitor_.progress_monitor = on_progress;
    run_trapped(errors_.trap, [&] {
      jpeg_create_decompress(&info_);
      info_.progress = &monitor_;
      jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
      jpeg_save_markers(&info_, kExifMarker, 0xFFFF);
      jpeg_save_markers(&info_, kProfileMarker, 0xFFFF);
    });
  }
  ~Decompressor() { jpeg_destroy_decompress(&info_); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  void read_header() {
    run_trapped(errors_.trap, [&] { jpeg_read_header(&info_, TRUE); });
    errors_.in_header = false;
  }

  void start(int64_t reduce) {
    run_trapped(errors_.trap, [&] {
      info_.scale_num = 1;
      info_.scale_denom = static_cast<unsigned>(reduce);
      info_.out_color_space = is_cmyk() ? JCS_CMYK : JCS_RGB;
      jpeg_start_decompress(&info_);
    });
  }

  void read_rows(uint8_t* pixels) {
    const size_t stride = size_t{info_.output_width} * static_cast<size_t>(info_.output_components);
    run_trapped(errors_.trap, [&] {
      while (info_.output_scanline < info_.output_height) {
        JSAMPROW row = pixels + info_.output_scanline * stride;
        jpeg_read_scanlines(&info_, &row, 1);
      }
    });
    if (errors_.ended_early && !is_whole()) fail("truncated JPEG");
  }

  /// Whether the whole image is in memory before its first row can be read.
  [[nodiscard]] bool is_held_whole() { return jpeg_has_multiple_scans(&info_) != 0; }

  /// Returns the ICC profile, which is spread over several markers; empty if one of them is missing.
  [[nodiscard]] std::string profile() {
    JOCTET* bytes = nullptr;
    unsigned size = 0;
    run_trapped(errors_.trap, [&] { jpeg_read_icc_profile(&info_, &bytes, &size); });
    if (bytes == nullptr) return "";
    const std::unique_ptr<JOCTET, void (*)(void*)> owner(bytes, &std::free);
    return {reinterpret_cast<const char*>(bytes), size};
  }

  [[nodiscard]] const jpeg_decompress_struct& info() const { return info_; }
  [[nodiscard]] bool is_cmyk() const {
    return info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
  }

  [[nodiscard]] int orientation() const {
    for (const jpeg_marker_struct* marker = info_.marker_list; marker != nullptr; marker = marker->next) {
      const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
      if (data.substr(0, 4) == "Exif") return exif_orientation(data);
    }
    return 0;
  }

 private:
  /// Whether no scan is missing in a file without an end mark whose rows could all be read. Scans of a progressive file
  /// refine coefficients; other files with several scans, and arithmetic coding, cannot be checked.
  [[nodiscard]] bool is_whole() {
    if (info_.arith_code != 0) return false;
    if (!is_held_whole()) return true;
    if (info_.coef_bits == nullptr) return false;
    for (int c = 0; c < info_.num_components; ++c) {
      const int* bits = info_.coef_bits[c];
      if (std::any_of(bits, bits + DCTSIZE2, [](int missing) { return missing != 0; })) return false;
    }
    return true;
  }

  jpeg_decompress_struct info_{};
  JpegErrors errors_{};
  jpeg_progress_mgr monitor_{};
};

/// Converts CMYK to RGB. Photoshop stores inks inverted (255: no ink) and marks that by its Adobe marker.
Image cmyk_to_rgb(const std::vector<uint8_t>& cmyk, int64_t height, int64_t width, bool inverted) {
  Image image = blank_image(height, width);
  const int flip = inverted ? 0 : 255;
  const uint8_t* in = cmyk.data();
  uint8_t* out = image.rgb.data();
  for (int64_t i = 0; i < height * width; ++i, in += 4) {
    const int light = in[3] ^ flip;
    for (int c = 0; c < 3; ++c) *out++ = static_cast<uint8_t>(((in[c] ^ flip) * light + 127) / 255);
  }
  return image;
}

void check_jpeg_size(Decompressor& jpeg, int64_t reduce, const DecodeOptions& options) {
  const int64_t height = jpeg.info().image_height;
  const int64_t width = jpeg.info().image_width;
  if (reduce == 1 || jpeg.is_held_whole()) {
    check_size(height, width, options);
  } else {
    check_reduced_size(height, width, ((height + reduce - 1) / reduce) * ((width + reduce - 1) / reduce), options);
  }
}

}  // namespace

Decoded decode_jpeg(std::string_view bytes, const DecodeOptions& options) {
  Decompressor jpeg(bytes);
  jpeg.read_header();
  const int64_t reduce = reduction(jpeg.info().image_height, jpeg.info().image_width, options);
  check_jpeg_size(jpeg, reduce, options);
  jpeg.start(reduce);
  const int64_t height = jpeg.info().output_height;
  const int64_t width = jpeg.info().output_width;
  const ImageSize stored{jpeg.info().image_height, jpeg.info().image_width};
  const int orientation = jpeg.orientation();
  if (jpeg.is_cmyk()) {
    std::vector<uint8_t> cmyk(static_cast<size_t>(height * width * 4));
    jpeg.read_rows(cmyk.data());
    return {cmyk_to_rgb(cmyk, height, width, jpeg.info().saw_Adobe_marker != 0), orientation, "", stored};
  }
  Decoded decoded{blank_image(height, width), orientation, jpeg.profile(), stored};
  jpeg.read_rows(decoded.image.rgb.data());
  return decoded;
}

}  // namespace codec

std::string encode_jpeg(const Image& image, int quality) {
  if (quality < 1 || quality > 100) fail_usage("JPEG quality out of range: expected 1 to 100, found {}", quality);
  codec::JpegErrors errors{};
  jpeg_compress_struct info{};
  info.err = codec::set_up(errors);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  const auto clean_up = [&] {
    jpeg_destroy_compress(&info);
    std::free(buffer);
  };
  try {
    codec::run_trapped(errors.trap, [&] {
      jpeg_create_compress(&info);
      jpeg_mem_dest(&info, &buffer, &size);
      info.image_width = static_cast<JDIMENSION>(image.width);
      info.image_height = static_cast<JDIMENSION>(image.height);
      info.input_components = 3;
      info.in_color_space = JCS_RGB;
      jpeg_set_defaults(&info);
      jpeg_set_quality(&info, quality, TRUE);
      jpeg_start_compress(&info, TRUE);
      while (info.next_scanline < info.image_height) {
        auto* row = const_cast<JSAMPROW>(image.rgb.data() + size_t{info.next_scanline} * info.image_width * 3);
        jpeg_write_scanlines(&info, &row, 1);
      }
      jpeg_finish_compress(&info);
    });
    std::string bytes(reinterpret_cast<const char*>(buffer), size);
    clean_up();
    return bytes;
  } catch (...) {
    clean_up();
    throw;
  }
}

}  // namespace protocom
