#pragma once
#include <vector>

#include "images/given_image.h"
#include "protocom/image.h"

namespace protocom::v0 {

struct Image::Impl {
  GivenImage given;
};

/// Converts the caller's images, which must outlive the result.
GivenImages given(const std::vector<Image>& images);

}  // namespace protocom::v0
