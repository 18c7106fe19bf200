#include "protocom/report/thumbnail.h"

#include "protocom/report/base64.h"

namespace protocom {
namespace {

constexpr int64_t kThumbnailSide = 96;
constexpr int kQuality = 82;

}  // namespace

std::string thumbnail(const ImageFinder& images, const std::string& image_id) {
  const auto image = images.find(image_id, kThumbnailSide);
  return image ? base64(encode_jpeg(*image, kQuality)) : "";
}

}  // namespace protocom
