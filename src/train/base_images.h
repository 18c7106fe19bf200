#pragma once
#include <cstdint>
#include <vector>

#include "protocom/data/packed_images.h"

namespace protocom {

/// The base images of a pack: their rows, and their labels among the base classes.
struct BaseImages {
  std::vector<int64_t> rows, labels;
  int64_t classes = 0;
};

/// Throws Error for fewer than two base classes and for one without images.
BaseImages base_images(const PackedImages& images);

}  // namespace protocom
