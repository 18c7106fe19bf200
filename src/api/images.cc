#include "api/detail/images.h"

#include "api/detail/boundary.h"
#include "base/error.h"
#include "base/parallel.h"
#include "io/files.h"

namespace protocom::v0 {
namespace {

std::string_view bytes_of(const protocom::Image& image) {
  return {reinterpret_cast<const char*>(image.rgb.data()), image.rgb.size()};
}

SquareImage square_image(const Image::Impl& given, size_t number, const Preprocessing& preprocessing) {
  if (!given.pixels.rgb.empty())
    return {resize_and_crop(given.pixels, preprocessing), hash_bytes(bytes_of(given.pixels)), "memory"};
  const bool is_file = !given.path.empty();
  const std::string where = is_file ? given.path : fmt::format("image {}", number);
  const std::string read = is_file ? read_file(given.path) : std::string();
  const std::string& bytes = is_file ? read : given.bytes;
  try {
    return {decode_square_image(bytes, preprocessing), hash_bytes(bytes), is_file ? where : "memory"};
  } catch (const protocom::Error& error) {
    fail("{}: {}", where, error.what());
  }
}

}  // namespace

Image::Image(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Image::Image(const std::string& path)
    : impl_(guarded([&] {
        if (path.empty()) fail("an image's path is empty");
        return std::make_shared<const Impl>(Impl{path});
      })) {}

Image::Image(const char* path)
    : Image(path != nullptr ? std::string(path) : throw Error("an image's path is a null pointer")) {}

Image Image::encoded(const void* bytes, size_t size) {
  return guarded([&] {
    if (bytes == nullptr || size == 0) fail("an encoded image has no bytes");
    return Image(std::make_shared<const Impl>(Impl{{}, std::string(static_cast<const char*>(bytes), size)}));
  });
}

Image Image::encoded(const std::string& bytes) { return encoded(bytes.data(), bytes.size()); }

Image Image::rgb(const uint8_t* pixels, int64_t height, int64_t width, int64_t stride) {
  return guarded([&] {
    constexpr int64_t kLongest = 1 << 20;
    if (pixels == nullptr) fail("an image's pixels are at a null pointer");
    if (height < 1 || width < 1 || height > kLongest || width > kLongest)
      fail("an image's sides are 1 to {} pixels, found {} x {}", kLongest, height, width);
    if (height * width > largest_image())
      fail("an image has at most {} pixels, found {} x {}", largest_image(), height, width);
    const int64_t step = stride == 0 ? 3 * width : stride;
    if (step < 3 * width) fail("rows of {} RGB pixels are {} bytes apart at least, found {}", width, 3 * width, step);
    protocom::Image own{height, width, {}};
    own.rgb.reserve(static_cast<size_t>(3 * height * width));
    for (int64_t y = 0; y < height; ++y)
      own.rgb.insert(own.rgb.end(), pixels + y * step, pixels + y * step + 3 * width);
    return Image(std::make_shared<const Impl>(Impl{{}, {}, std::move(own)}));
  });
}

std::vector<SquareImage> square_images(const std::vector<Image>& images, const Preprocessing& preprocessing) {
  std::vector<SquareImage> squares(images.size());
  parallel_each(static_cast<int64_t>(images.size()), [&](int64_t i) {
    const auto number = static_cast<size_t>(i);
    squares[number] = square_image(images[number].impl(), number, preprocessing);
  });
  return squares;
}

std::vector<protocom::Image> take_images(std::vector<SquareImage>& images) {
  std::vector<protocom::Image> taken;
  for (SquareImage& image : images) taken.push_back(std::move(image.image));
  return taken;
}

}  // namespace protocom::v0
