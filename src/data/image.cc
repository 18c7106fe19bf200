#include "protocom/data/image.h"

#include "codec.h"
#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/data/skipped_files.h"

namespace protocom {
namespace {

bool has_at(std::string_view bytes, size_t offset, std::string_view mark) {
  return bytes.size() >= offset && bytes.substr(offset, mark.size()) == mark;
}

bool starts_with(std::string_view bytes, std::string_view mark) { return has_at(bytes, 0, mark); }

codec::Decoded decode_stored(std::string_view bytes, const DecodeOptions& options) {
  using namespace std::string_view_literals;
  if (bytes.empty()) fail("the file is empty");
  if (starts_with(bytes, "\xff\xd8\xff"sv)) return codec::decode_jpeg(bytes, options);
  if (starts_with(bytes, "\x89PNG\r\n\x1a\n"sv)) return codec::decode_png(bytes, options);
  if (starts_with(bytes, "RIFF"sv) && has_at(bytes, 8, "WEBP"sv)) return codec::decode_webp(bytes, options);
  if (starts_with(bytes, "BM"sv)) return codec::decode_bmp(bytes, options);
  if (starts_with(bytes, "GIF8"sv)) return codec::decode_gif(bytes, options);
  if (starts_with(bytes, "II*\0"sv) || starts_with(bytes, "MM\0*"sv)) return codec::decode_tiff(bytes, options);
  if (has_at(bytes, 4, "ftyp"sv)) {
    if (codec::is_heif(bytes)) return codec::decode_heif(bytes, options);
    fail("it is a video, or a kind of HEIF that is not read; HEIC and AVIF are");
  }
  fail("it is no {} by its first bytes", kImageKinds);
}

DecodeOptions options_for(int64_t size) {
  DecodeOptions options;
  options.min_side = size;
  return options;
}

}  // namespace

Image decode_image(std::string_view bytes, const DecodeOptions& options) {
  codec::Decoded decoded = decode_stored(bytes, options);
  codec::to_srgb(decoded.image, decoded.profile);
  return codec::turn_upright(std::move(decoded.image), decoded.orientation);
}

Image read_image(const std::filesystem::path& path, const DecodeOptions& options) {
  const std::string bytes = read_file(path);
  try {
    return decode_image(bytes, options);
  } catch (const Error& error) {
    fail("{}: {}", path.string(), error.what());
  }
}

Image decode_square_image(std::string_view bytes, const Preprocessing& preprocessing) {
  return resize_and_crop(decode_image(bytes, options_for(preprocessing.shorter_side())), preprocessing);
}

Image decode_square_image(std::string_view bytes, int64_t size) {
  return resize_and_crop(decode_image(bytes, options_for(size)), size);
}

Image read_square_image(const std::filesystem::path& path, int64_t size) {
  return resize_and_crop(read_image(path, options_for(size)), size);
}

Image read_square_image(const std::filesystem::path& path, const Preprocessing& preprocessing) {
  return resize_and_crop(read_image(path, options_for(preprocessing.shorter_side())), preprocessing);
}

}  // namespace protocom
