#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "images/codec.h"

namespace protocom::codec {
namespace {

/// The bytes of a file as read by libtiff.
struct Source {
  std::string_view bytes;
  toff_t at = 0;
  std::string reason = {};  ///< the first error
};

Source& source_of(thandle_t handle) { return *static_cast<Source*>(handle); }

tmsize_t read(thandle_t handle, void* to, tmsize_t count) {
  Source& source = source_of(handle);
  if (source.at >= source.bytes.size() || count < 0) return 0;
  const auto taken = std::min<size_t>(static_cast<size_t>(count), source.bytes.size() - source.at);
  std::memcpy(to, source.bytes.data() + source.at, taken);
  source.at += taken;
  return static_cast<tmsize_t>(taken);
}

tmsize_t refuse_to_write(thandle_t /*handle*/, void* /*from*/, tmsize_t /*count*/) { return 0; }

toff_t seek(thandle_t handle, toff_t offset, int whence) {
  Source& source = source_of(handle);
  if (whence == SEEK_CUR) offset += source.at;
  if (whence == SEEK_END) offset += source.bytes.size();
  return source.at = offset;
}

int close(thandle_t /*handle*/) { return 0; }
toff_t size(thandle_t handle) { return source_of(handle).bytes.size(); }

/// Records an error, which libtiff would print.
int note_error(TIFF* /*file*/, void* user, const char* /*module*/, const char* format, va_list arguments) {
  auto& source = *static_cast<Source*>(user);
  char text[200];
  std::vsnprintf(text, sizeof text, format, arguments);
  if (source.reason.empty()) source.reason = text;
  return 1;
}

[[noreturn]] void fail_of_damage(const Source& source) {
  fail("damaged TIFF ({})", source.reason.empty() ? "no image" : source.reason);
}

/// The largest allocation of libtiff, a strip or a tile before it becomes pixels of four bytes: both together then stay
/// below 1 GiB for the largest image that is read, whatever a file states about its strips.
constexpr tmsize_t kLargestStrip = tmsize_t{448} << 20;

int ignore_warning(TIFF* /*file*/, void* /*user*/, const char* /*module*/, const char* /*format*/, va_list) {
  return 1;
}

using TiffFile = std::unique_ptr<TIFF, void (*)(TIFF*)>;

/// Opens a file; `mode` as for TIFFOpen().
TiffFile open(Source& source, const char* mode = "rm") {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options, &note_error, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options, &ignore_warning, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, kLargestStrip);
  TIFF* file = TIFFClientOpenExt("image", mode, &source, &read, &refuse_to_write, &seek, &close, &size, nullptr,
                                 nullptr, options);
  TIFFOpenOptionsFree(options);
  return {file, &TIFFClose};
}

/// Converts premultiplied ABGR, as libtiff packs it, to RGB over white.
Image raster_over_white(const std::vector<uint32_t>& raster, int64_t height, int64_t width) {
  Image image = blank_image(height, width);
  for (size_t i = 0; i < raster.size(); ++i) {
    const uint32_t missing = 255 - TIFFGetA(raster[i]);
    image.rgb[3 * i] = static_cast<uint8_t>(std::min<uint32_t>(255, TIFFGetR(raster[i]) + missing));
    image.rgb[3 * i + 1] = static_cast<uint8_t>(std::min<uint32_t>(255, TIFFGetG(raster[i]) + missing));
    image.rgb[3 * i + 2] = static_cast<uint8_t>(std::min<uint32_t>(255, TIFFGetB(raster[i]) + missing));
  }
  return image;
}

struct Page {
  uint32_t width = 0, height = 0;
  bool thumbnail = false;  // flagged as a smaller version of another page

  [[nodiscard]] int64_t pixels() const { return int64_t{width} * height; }
};

std::optional<Page> page_of(TIFF* file) {
  Page page;
  uint32_t kind = 0;
  if (TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &page.width) == 0 ||
      TIFFGetField(file, TIFFTAG_IMAGELENGTH, &page.height) == 0)
    return std::nullopt;
  TIFFGetFieldDefaulted(file, TIFFTAG_SUBFILETYPE, &kind);
  page.thumbnail = (kind & FILETYPE_REDUCEDIMAGE) != 0;
  return page;
}

/// If the first page is a thumbnail, selects the largest page that is not, if there is any.
std::optional<Page> choose_page(TIFF* file) {
  constexpr uint16_t kMostPages = 100;
  const std::optional<Page> first = page_of(file);
  if (!first || !first->thumbnail) return first;
  std::optional<Page> best = first;
  uint16_t best_number = 0;
  for (uint16_t number = 1; number < kMostPages && TIFFReadDirectory(file) != 0; ++number) {
    const std::optional<Page> page = page_of(file);
    if (!page || page->thumbnail || (best_number > 0 && page->pixels() <= best->pixels())) continue;
    best = page;
    best_number = number;
  }
  return TIFFSetDirectory(file, best_number) == 0 ? first : best;
}

/// Whether the page is a raw image, with one or three colours per pixel; DNG 1.7.1, "PhotometricInterpretation".
bool is_raw_image(TIFF* file) {
  constexpr uint16_t kLinearRaw = 34892;
  uint16_t kind = 0;
  return TIFFGetField(file, TIFFTAG_PHOTOMETRIC, &kind) != 0 && (kind == PHOTOMETRIC_CFA || kind == kLinearRaw);
}

/// Returns the places of the first subpages: a file may state 65,535 times that a large one is there.
std::vector<uint64_t> places_of_subpages(TIFF* file) {
  constexpr uint16_t kMostSubpages = 32;
  uint16_t count = 0;
  const uint64_t* places = nullptr;
  if (TIFFGetField(file, TIFFTAG_SUBIFD, &count, &places) == 0 || places == nullptr) return {};
  return {places, places + std::min(count, kMostSubpages)};
}

/// Whether the file is DNG, NEF, ARW, PEF, ...: the first page is the raw image, or a preview of another page of the
/// file.
bool is_page_of_raw(TIFF* file, const Page& page) {
  const void* version = nullptr;
  return is_raw_image(file) || TIFFGetField(file, TIFFTAG_DNGVERSION, &version) != 0 ||
         (page.thumbnail && !places_of_subpages(file).empty());
}

int orientation_of_page(TIFF* file) {
  uint16_t orientation = 1;
  TIFFGetFieldDefaulted(file, TIFFTAG_ORIENTATION, &orientation);
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

void add_tiles(TIFF* file, std::vector<uint64_t>& tiles) {
  constexpr size_t kMostTiles = 1 << 14;  // over all pages
  if (!is_raw_image(file)) return;
  const uint32_t count = TIFFIsTiled(file) != 0 ? TIFFNumberOfTiles(file) : TIFFNumberOfStrips(file);
  for (uint32_t i = 0; i < count && tiles.size() < kMostTiles; ++i) tiles.push_back(TIFFGetStrileOffset(file, i));
}

/// Returns the tiles of the first page and its subpages; none if they cannot be read.
std::vector<uint64_t> find_tiles(std::string_view bytes) {
  Source source{bytes};
  const TiffFile file = open(source, "rmDO");  // lists of tiles are read only as needed
  std::vector<uint64_t> tiles;
  if (file == nullptr) return tiles;
  add_tiles(file.get(), tiles);
  for (const uint64_t place : places_of_subpages(file.get())) {
    if (TIFFSetSubDirectory(file.get(), place) != 0) add_tiles(file.get(), tiles);
  }
  std::sort(tiles.begin(), tiles.end());
  return tiles;
}

std::string profile_of_page(TIFF* file) {
  uint32_t size = 0;
  const void* bytes = nullptr;
  if (TIFFGetField(file, TIFFTAG_ICCPROFILE, &size, &bytes) == 0 || bytes == nullptr) return "";
  return {static_cast<const char*>(bytes), size};
}

/// Decodes the current page of the file.
Decoded decode_page(TIFF* file, const Page& page, const DecodeOptions& options) {
  const uint32_t width = page.width, height = page.height;
  check_size(height, width, options);
  std::string profile = profile_of_page(file);
  char reason[1024] = "";
  TIFFRGBAImage reader{};
  if (TIFFRGBAImageOK(file, reason) == 0 || TIFFRGBAImageBegin(&reader, file, 1, reason) == 0)
    fail("unsupported TIFF ({})", reason);
  reader.req_orientation = reader.orientation;  // rows as they are stored: we turn them
  std::vector<uint32_t> raster(static_cast<size_t>(width) * height);
  const int done = TIFFRGBAImageGet(&reader, raster.data(), width, height);
  TIFFRGBAImageEnd(&reader);
  if (done == 0) fail_of_damage(source_of(TIFFClientdata(file)));
  return {raster_over_white(raster, height, width), orientation_of_page(file), std::move(profile)};
}

/// Decodes a raw photo; its current page may be an uncompressed preview.
Decoded decode_raw_photo(TIFF* file, std::string_view bytes, const Page& page, const DecodeOptions& options) {
  std::optional<Decoded> decoded = decode_preview(bytes, {orientation_of_page(file), find_tiles(bytes)}, options);
  if (decoded) return std::move(*decoded);
  if (!page.thumbnail || is_raw_image(file)) fail("{}", kNoPreview);
  decoded = decode_page(file, page, options);
  decoded->is_preview = true;
  return std::move(*decoded);
}

}  // namespace

Decoded decode_tiff(std::string_view bytes, const DecodeOptions& options) {
  Source source{bytes};
  const TiffFile file = open(source);
  if (file == nullptr) fail_of_damage(source);
  const std::optional<Page> page = choose_page(file.get());
  if (!page) fail_of_damage(source);
  if (is_page_of_raw(file.get(), *page)) return decode_raw_photo(file.get(), bytes, *page, options);
  return decode_page(file.get(), *page, options);
}

}  // namespace protocom::codec
