#include "images/given_image.h"

#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "images/image_region.h"
#include "io/files.h"

namespace protocom {
namespace {

SquareImage square_image(const GivenImage& given, size_t number, const Preprocessing& preprocessing) {
  if (!given.pixels.rgb.empty()) {
    const std::string_view bytes(reinterpret_cast<const char*>(given.pixels.rgb.data()), given.pixels.rgb.size());
    return {resize_and_crop(given.pixels, preprocessing), hash_bytes(bytes), "memory"};
  }
  if (!given.path.empty()) {
    ReadRegion read = read_region(given.path, preprocessing);
    return {std::move(read.image), std::move(read.hash), given.path.string()};
  }
  try {
    return {decode_square_image(given.bytes, preprocessing), hash_bytes(given.bytes), "memory"};
  } catch (const Error& error) {
    fail("image {}: {}", number, error.what());
  }
}

}  // namespace

std::vector<SquareImage> square_images(const GivenImages& images, const Preprocessing& preprocessing) {
  std::vector<SquareImage> squares(images.size());
  parallel_each(static_cast<int64_t>(images.size()), [&](int64_t i) {
    const auto number = static_cast<size_t>(i);
    squares[number] = square_image(*images[number], number, preprocessing);
  });
  return squares;
}

std::vector<Image> take_images(std::vector<SquareImage>& images) {
  std::vector<Image> taken;
  for (SquareImage& image : images) taken.push_back(std::move(image.image));
  return taken;
}

}  // namespace protocom
