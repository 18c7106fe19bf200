#include "images/given_image.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "io/files.h"

namespace protocom {
namespace {

SquareImage square_image(const GivenImage& given, size_t number, const Preprocessing& preprocessing) {
  if (!given.pixels.rgb.empty()) {
    const std::string_view bytes(reinterpret_cast<const char*>(given.pixels.rgb.data()), given.pixels.rgb.size());
    return {resize_and_crop(given.pixels, preprocessing), hash_bytes(bytes), "memory"};
  }
  const bool is_file = !given.path.empty();
  const std::string where = is_file ? given.path.string() : fmt::format("image {}", number);
  const std::string read = is_file ? read_file(given.path) : std::string();
  const std::string& bytes = is_file ? read : given.bytes;
  try {
    return {decode_square_image(bytes, preprocessing), hash_bytes(bytes), is_file ? where : "memory"};
  } catch (const Error& error) {
    fail("{}: {}", where, error.what());
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
