#pragma once
#include <string>
#include <vector>

#include "images/image.h"
#include "images/preprocessing.h"
#include "protocom/image.h"

namespace protocom::v0 {

struct Image::Impl {
  std::string path = {};
  std::string bytes = {};
  protocom::Image pixels = {};
};

/// An image as a backbone takes it, with what it is known by again.
struct SquareImage {
  protocom::Image image;
  std::string hash;
  std::string source;
};

/// All of them, decoded on all cores. Throws Error that says which one cannot be read.
std::vector<SquareImage> square_images(const std::vector<Image>& images, const Preprocessing& preprocessing);

/// The images alone, which are taken out.
std::vector<protocom::Image> take_images(std::vector<SquareImage>& images);

}  // namespace protocom::v0
