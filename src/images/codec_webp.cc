#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>

#include "images/codec.h"

namespace protocom::codec {
namespace {

const uint8_t* data_of(std::string_view bytes) { return reinterpret_cast<const uint8_t*>(bytes.data()); }

void check(VP8StatusCode status) {
  if (status == VP8_STATUS_OK) return;
  if (status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED) fail("truncated WebP");
  if (status == VP8_STATUS_OUT_OF_MEMORY) fail("out of memory for a WebP");
  fail("damaged WebP (libwebp status {})", static_cast<int>(status));
}

/// Returns the content of a container's chunk; empty if there is none.
std::string read_chunk(std::string_view bytes, const char* name, WebPFeatureFlags flag) {
  const WebPData data{data_of(bytes), bytes.size()};
  const std::unique_ptr<WebPDemuxer, void (*)(WebPDemuxer*)> demuxer(WebPDemux(&data), WebPDemuxDelete);
  if (!demuxer || (WebPDemuxGetI(demuxer.get(), WEBP_FF_FORMAT_FLAGS) & static_cast<uint32_t>(flag)) == 0) return "";
  WebPChunkIterator chunk;
  if (WebPDemuxGetChunk(demuxer.get(), name, 1, &chunk) == 0) return "";
  std::string held(reinterpret_cast<const char*>(chunk.chunk.bytes), chunk.chunk.size);
  WebPDemuxReleaseChunkIterator(&chunk);
  return held;
}

int read_webp_orientation(std::string_view bytes) {
  const std::string exif = read_chunk(bytes, "EXIF", EXIF_FLAG);
  return exif.empty() ? 1 : exif_orientation(exif);
}

Image first_frame(std::string_view bytes) {
  WebPAnimDecoderOptions options;
  if (WebPAnimDecoderOptionsInit(&options) == 0) fail("libwebp has another version than protocom was built with");
  options.color_mode = MODE_RGBA;
  options.use_threads = 0;
  const WebPData data{data_of(bytes), bytes.size()};
  const std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder*)> decoder(WebPAnimDecoderNew(&data, &options),
                                                                             WebPAnimDecoderDelete);
  WebPAnimInfo info;
  uint8_t* canvas = nullptr;
  int time = 0;
  if (!decoder || WebPAnimDecoderGetInfo(decoder.get(), &info) == 0 ||
      WebPAnimDecoderGetNext(decoder.get(), &canvas, &time) == 0)
    fail("damaged or truncated WebP (its first frame)");
  return over_white(canvas, info.canvas_height, info.canvas_width);
}

}  // namespace

Decoded decode_webp(std::string_view bytes, const DecodeOptions& options) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) fail("libwebp has another version than protocom was built with");
  check(WebPGetFeatures(data_of(bytes), bytes.size(), &config.input));
  check_size(config.input.height, config.input.width, options);
  if (config.input.has_animation != 0)
    return {first_frame(bytes), read_webp_orientation(bytes), read_chunk(bytes, "ICCP", ICCP_FLAG)};
  const int64_t reduce = reduction(config.input.height, config.input.width, options);
  const int64_t height = (config.input.height + reduce - 1) / reduce;
  const int64_t width = (config.input.width + reduce - 1) / reduce;
  const bool alpha = config.input.has_alpha != 0;
  const int64_t stride = width * (alpha ? 4 : 3);
  std::vector<uint8_t> pixels(static_cast<size_t>(height * stride));
  config.options.use_scaling = reduce > 1 ? 1 : 0;
  config.options.scaled_height = static_cast<int>(height);
  config.options.scaled_width = static_cast<int>(width);
  config.output.colorspace = alpha ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {pixels.data(), static_cast<int>(stride), pixels.size()};
  check(WebPDecode(data_of(bytes), bytes.size(), &config));
  Image image = alpha ? over_white(pixels.data(), height, width) : Image{height, width, std::move(pixels)};
  return {std::move(image),
          read_webp_orientation(bytes),
          read_chunk(bytes, "ICCP", ICCP_FLAG),
          {config.input.height, config.input.width}};
}

}  // namespace protocom::codec
