#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "images/image.h"
#include "images/preprocessing.h"

namespace protocom {

/// An image given by a caller: a file, the bytes of one, or its pixels.
struct GivenImage {
  std::filesystem::path path = {};
  std::string bytes = {};
  Image pixels = {};
};

/// Images owned by the caller during a call.
using GivenImages = std::vector<const GivenImage*>;

/// An image prepared for a backbone, with its hash and source.
struct SquareImage {
  Image image;
  std::string hash;    ///< of the file's bytes, or of the pixels
  std::string source;  ///< the file's path, or "memory"
};

/// Decodes all images on all cores. Throws Error that names an unreadable one.
std::vector<SquareImage> square_images(const GivenImages& images, const Preprocessing& preprocessing);

/// Moves the images out.
std::vector<Image> take_images(std::vector<SquareImage>& images);

}  // namespace protocom
