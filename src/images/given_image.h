#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "images/image.h"
#include "images/preprocessing.h"

namespace protocom {

/// An image as a caller gives it: a file, the bytes of one, or its pixels.
struct GivenImage {
  std::filesystem::path path = {};
  std::string bytes = {};
  Image pixels = {};
};

/// Images that their owner keeps during a call.
using GivenImages = std::vector<const GivenImage*>;

/// An image as a backbone takes it, with what it is known by again.
struct SquareImage {
  Image image;
  std::string hash;    ///< of the file's bytes, or of the pixels
  std::string source;  ///< the file's path, or "memory"
};

/// All of them, decoded on all cores. Throws Error that names the one that cannot be read.
std::vector<SquareImage> square_images(const GivenImages& images, const Preprocessing& preprocessing);

/// The images alone, which are taken out.
std::vector<Image> take_images(std::vector<SquareImage>& images);

}  // namespace protocom
