#include <algorithm>

#include "images/codec.h"
#include "images/skipped_files.h"

namespace protocom {
namespace codec {
namespace {

using namespace std::string_view_literals;

bool has_at(std::string_view bytes, size_t offset, std::string_view mark) {
  return bytes.size() >= offset && bytes.substr(offset, mark.size()) == mark;
}

bool is_jpeg(std::string_view bytes) { return has_at(bytes, 0, "\xff\xd8\xff"sv); }
bool is_png(std::string_view bytes) { return has_at(bytes, 0, "\x89PNG\r\n\x1a\n"sv); }
bool is_webp(std::string_view bytes) { return has_at(bytes, 0, "RIFF"sv) && has_at(bytes, 8, "WEBP"sv); }
/// Whether it is a TIFF with offsets of four bytes, or of eight (BigTIFF).
bool is_tiff(std::string_view bytes) {
  return has_at(bytes, 0, "II*\0"sv) || has_at(bytes, 0, "MM\0*"sv) || has_at(bytes, 0, "II+\0"sv) ||
         has_at(bytes, 0, "MM\0+"sv);
}
bool is_gif(std::string_view bytes) { return has_at(bytes, 0, "GIF8"sv); }
bool is_bmp(std::string_view bytes) { return has_at(bytes, 0, "BM"sv); }
/// Whether it is a file of boxes, or a codestream alone.
bool is_jpeg_2000(std::string_view bytes) {
  return has_at(bytes, 0, "\0\0\0\x0cjP  \r\n\x87\n"sv) || has_at(bytes, 0, "\xff\x4f\xff\x51"sv);
}
bool is_jpeg_xl(std::string_view bytes) {
  return has_at(bytes, 0, "\0\0\0\x0cJXL \r\n\x87\n"sv) || has_at(bytes, 0, "\xff\x0a"sv);
}

/// One row per format. JPEG first: most photos are. ".mpo" is a JPEG followed by others.
constexpr Codec kCodecs[] = {
    {"JPEG", {".jpg", ".jpeg", ".jpe", ".jfif", ".mpo"}, &is_jpeg, &decode_jpeg},
    {"PNG", {".png"}, &is_png, &decode_png},
    {"WebP", {".webp"}, &is_webp, &decode_webp},
    {"camera raw",
     {".dng", ".cr2", ".cr3", ".nef", ".nrw", ".arw", ".orf", ".rw2", ".raf", ".x3f", ".pef", ".srw"},
     &is_raw,
     &decode_raw},
    {"HEIC", {".heic", ".heif", ".hif"}, &is_heif, &decode_heif},
    {"AVIF", {".avif"}, &is_heif, &decode_heif},
    {"JPEG XL", {".jxl"}, &is_jpeg_xl, &decode_jpeg_xl},
    {"JPEG 2000", {".jp2", ".j2k", ".jpx"}, &is_jpeg_2000, &decode_jpeg_2000},
    {"TIFF", {".tif", ".tiff"}, &is_tiff, &decode_tiff},
    {"GIF", {".gif"}, &is_gif, &decode_gif},
    {"BMP", {".bmp", ".dib"}, &is_bmp, &decode_bmp},
};

bool has_suffix(const Codec& codec, std::string_view suffix) {
  return !suffix.empty() && std::find(codec.suffixes.begin(), codec.suffixes.end(), suffix) != codec.suffixes.end();
}

}  // namespace

const Codec* codec_of(std::string_view bytes) {
  const auto* found =
      std::find_if(std::begin(kCodecs), std::end(kCodecs), [&](const Codec& codec) { return codec.is(bytes); });
  return found == std::end(kCodecs) ? nullptr : found;
}

bool is_image_suffix(std::string_view suffix) {
  return std::any_of(std::begin(kCodecs), std::end(kCodecs),
                     [&](const Codec& codec) { return has_suffix(codec, suffix); });
}

bool is_raw_suffix(std::string_view suffix) {
  return std::any_of(std::begin(kCodecs), std::end(kCodecs),
                     [&](const Codec& codec) { return codec.is == &is_raw && has_suffix(codec, suffix); });
}

}  // namespace codec

std::string image_kinds() {
  std::string kinds;
  for (const codec::Codec& codec : codec::kCodecs) {
    if (&codec != std::begin(codec::kCodecs)) kinds += &codec == std::end(codec::kCodecs) - 1 ? " or " : ", ";
    kinds += codec.kind;
  }
  return kinds;
}

}  // namespace protocom
