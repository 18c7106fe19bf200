#pragma once
#include <string>

#include "protocom/data/image_finder.h"

namespace protocom {

/// A small square JPEG of an image in base64, for a PictureSource; "" when there is no image of that id or it cannot be
/// read.
std::string thumbnail(const ImageFinder& images, const std::string& image_id);

}  // namespace protocom
