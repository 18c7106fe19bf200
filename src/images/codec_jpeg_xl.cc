#include <jxl/decode.h>

#include <memory>
#include <type_traits>

#include "images/codec.h"

namespace protocom::codec {
namespace {

using JxlReader = std::unique_ptr<JxlDecoder, void (*)(JxlDecoder*)>;

void check(JxlDecoderStatus status) {
  if (status != JXL_DEC_SUCCESS) fail("damaged JPEG XL");
}

/// Calls a function of libjxl that before 0.9 also took a format, which it did not use.
template <typename Function, typename... Out>
JxlDecoderStatus ask_profile(Function* function, const JxlDecoder* decoder, Out... out) {
  constexpr auto kTarget = JXL_COLOR_PROFILE_TARGET_DATA;
  if constexpr (std::is_invocable_v<Function*, const JxlDecoder*, JxlColorProfileTarget, Out...>)
    return function(decoder, kTarget, out...);
  else
    return function(decoder, nullptr, kTarget, out...);
}

std::string profile_of(const JxlDecoder* decoder) {
  size_t size = 0;
  if (ask_profile(&JxlDecoderGetICCProfileSize, decoder, &size) != JXL_DEC_SUCCESS) return "";
  std::string profile(size, '\0');
  check(ask_profile(&JxlDecoderGetColorAsICCProfile, decoder, reinterpret_cast<uint8_t*>(profile.data()), size));
  return profile;
}

/// Reads the file to the end of its first frame.
class FirstFrame {
 public:
  FirstFrame(std::string_view bytes, const DecodeOptions& options)
      : decoder_(JxlDecoderCreate(nullptr), JxlDecoderDestroy), options_(options) {
    if (decoder_ == nullptr) fail("out of memory for a JPEG XL");
    check(JxlDecoderSubscribeEvents(decoder_.get(), JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE));
    check(JxlDecoderSetUnpremultiplyAlpha(decoder_.get(), JXL_TRUE));
    check(JxlDecoderSetInput(decoder_.get(), reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
    JxlDecoderCloseInput(decoder_.get());
  }

  Decoded take() {
    while (true) {
      switch (JxlDecoderProcessInput(decoder_.get())) {
        case JXL_DEC_BASIC_INFO:
          start();
          break;
        case JXL_DEC_COLOR_ENCODING:
          profile_ = profile_of(decoder_.get());
          break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
          set_buffer();
          break;
        case JXL_DEC_FULL_IMAGE:
          return finished();
        case JXL_DEC_NEED_MORE_INPUT:
          fail("truncated JPEG XL");
        default:
          fail("damaged JPEG XL");
      }
    }
  }

 private:
  void start() {
    check(JxlDecoderGetBasicInfo(decoder_.get(), &info_));
    constexpr uint32_t kMostExtra = 4;  // each takes as much memory as a colour
    if (info_.num_extra_channels > kMostExtra) fail("unsupported JPEG XL: {} extra channels", info_.num_extra_channels);
    check_size(info_.ysize, info_.xsize, options_);
  }

  void set_buffer() {
    size_t size = 0;
    check(JxlDecoderImageOutBufferSize(decoder_.get(), &format_, &size));
    rgba_.resize(size);
    check(JxlDecoderSetImageOutBuffer(decoder_.get(), &format_, rgba_.data(), size));
  }

  /// Returns the image, which the library has turned upright.
  Decoded finished() {
    const int64_t height = info_.ysize, width = info_.xsize;
    if (static_cast<int64_t>(rgba_.size()) < height * width * 4) fail("damaged JPEG XL (no pixels)");
    return {over_white(rgba_.data(), height, width), 1, std::move(profile_)};
  }

  JxlReader decoder_;
  const DecodeOptions& options_;
  JxlBasicInfo info_{};
  JxlPixelFormat format_{4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
  std::string profile_;
  std::vector<uint8_t> rgba_;
};

}  // namespace

Decoded decode_jpeg_xl(std::string_view bytes, const DecodeOptions& options) {
  return FirstFrame(bytes, options).take();
}

}  // namespace protocom::codec
