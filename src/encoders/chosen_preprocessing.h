#pragma once
#include <cstdint>
#include <string>

#include "images/preprocessing.h"

namespace protocom {

/// Throws UsageError for images that no backbone takes.
void check_image_size(int64_t image_size);

/// The preprocessing of a file's images: as its user requests, else as the file states, else plain images of the side
/// `otherwise`. Says which, and throws UnstatedPreprocessing if no size is stated.
Preprocessing choose_preprocessing(const Preprocessing& asked, const Preprocessing& stated, int64_t otherwise,
                                   const std::string& where);

/// What is said of images, at the side that a graph is made for (0: any), which is logged where it differs.
Preprocessing fitting_side(const Preprocessing& asked, int64_t side, const std::string& where);

}  // namespace protocom
