#include "report/detail/photo_sheet.h"

#include <optional>

#include "base/error.h"
#include "datasets/contact_sheet.h"
#include "io/base64.h"

namespace protocom {
namespace {

constexpr int64_t kSheetTile = 48;
constexpr int kSheetQuality = 60;
constexpr uint8_t kGrey = 128;

std::optional<Image> small_photo(const std::string& picture) {
  if (picture.empty()) return std::nullopt;
  try {
    return resize_and_crop(decode_image(from_base64(picture)), {kSheetTile});
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

PhotoSheet photo_sheet(const std::vector<std::string>& pictures) {
  PhotoSheet result;
  while (result.columns * result.columns < static_cast<int64_t>(pictures.size())) ++result.columns;
  const int64_t side = result.columns * kSheetTile;
  Image sheet{side, side, std::vector<uint8_t>(static_cast<size_t>(3 * side * side), kGrey)};
  bool any = false;
  for (int64_t i = 0; i < static_cast<int64_t>(pictures.size()); ++i) {
    const auto photo = small_photo(pictures[static_cast<size_t>(i)]);
    if (!photo) continue;
    paste(*photo, i / result.columns * kSheetTile, i % result.columns * kSheetTile, sheet);
    any = true;
  }
  if (any) result.jpeg = base64(encode_jpeg(sheet, kSheetQuality));
  return result;
}

}  // namespace protocom
