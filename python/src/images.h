#pragma once
#include <pybind11/pybind11.h>

#include <filesystem>
#include <string>
#include <vector>

#include "images/image.h"
#include "images/preprocessing.h"

namespace protocom::python {

namespace py = pybind11;

/// An image as Python gives it: a file, the bytes of one, or its pixels.
struct GivenImage {
  std::filesystem::path path;
  std::string bytes;
  Image pixels;
};

/// Of a list of paths (str), bytes, and arrays uint8 [height, width, 3].
std::vector<GivenImage> given_images(const py::list& images);

/// An image as a backbone takes it, with what it is known by again.
struct SquareImage {
  Image image;
  std::string hash;
  std::string source;
};

/// All of them, decoded on all cores. Throws Error that says which one cannot be read.
std::vector<SquareImage> square_images(const std::vector<GivenImage>& images, const Preprocessing& preprocessing);

/// The images alone, which are taken out.
std::vector<Image> take_images(std::vector<SquareImage>& images);

}  // namespace protocom::python
