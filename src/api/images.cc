#include "api/detail/images.h"

#include "api/detail/boundary.h"
#include "base/error.h"

namespace protocom::v0 {
Image::Image(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Image::Image(const std::string& path)
    : impl_(guarded([&] {
        if (path.empty()) fail("an image's path is empty");
        return std::make_shared<const Impl>(Impl{{path, {}, {}}});
      })) {}

Image::Image(const char* path)
    : Image(path != nullptr ? std::string(path) : throw Error("an image's path is a null pointer")) {}

Image Image::encoded(const void* bytes, size_t size) {
  return guarded([&] {
    if (bytes == nullptr || size == 0) fail("an encoded image has no bytes");
    return Image(std::make_shared<const Impl>(Impl{{{}, std::string(static_cast<const char*>(bytes), size), {}}}));
  });
}

Image Image::encoded(const std::string& bytes) { return encoded(bytes.data(), bytes.size()); }

Image Image::rgb(const uint8_t* pixels, int64_t height, int64_t width, int64_t stride) {
  return guarded([&] {
    constexpr int64_t kLongest = 1 << 20;
    if (pixels == nullptr) fail("an image's pixels are a null pointer");
    if (height < 1 || width < 1 || height > kLongest || width > kLongest)
      fail("image sides out of range: expected 1 to {} pixels, found {} x {}", kLongest, height, width);
    if (height * width > largest_image())
      fail("an image has at most {} pixels, found {} x {}", largest_image(), height, width);
    const int64_t step = stride == 0 ? 3 * width : stride;
    if (step < 3 * width)
      fail("row stride too small: {} RGB pixels need at least {} bytes, found {}", width, 3 * width, step);
    protocom::Image own{height, width, {}};
    own.rgb.reserve(static_cast<size_t>(3 * height * width));
    for (int64_t y = 0; y < height; ++y)
      own.rgb.insert(own.rgb.end(), pixels + y * step, pixels + y * step + 3 * width);
    return Image(std::make_shared<const Impl>(Impl{{{}, {}, std::move(own)}}));
  });
}

GivenImages given(const std::vector<Image>& images) {
  GivenImages all;
  for (const Image& image : images) all.push_back(&image.impl().given);
  return all;
}

}  // namespace protocom::v0
