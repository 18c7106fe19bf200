#pragma once
#include <vector>

#include "images/given_image.h"
#include "protocom/image.h"

namespace protocom::v0 {

struct Image::Impl {
  GivenImage given;
};

/// The module's images of the caller's, which have to outlive them.
GivenImages given(const std::vector<Image>& images);

}  // namespace protocom::v0
