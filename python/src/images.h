#pragma once
#include <pybind11/pybind11.h>

#include <vector>

#include "images/given_image.h"

namespace protocom::python {

namespace py = pybind11;

/// Converts a list of paths (str), bytes, and arrays uint8 [height, width, 3].
std::vector<GivenImage> given_images(const py::list& images);

/// Returns the images as calls take them; `images` must outlive it.
GivenImages pointers(const std::vector<GivenImage>& images);

}  // namespace protocom::python
