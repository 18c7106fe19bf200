#pragma once
#include <cstdint>
#include <string>

#include "images/preprocessing.h"

namespace protocom {

/// Throws UsageError for an image size that no backbone takes.
void check_image_size(int64_t image_size);

/// Returns the preprocessing for a file: as its user requests, else as the file states, else plain images of the size
/// `otherwise`. Logs an assumed one, warns if the request overrides the file, and throws UnstatedPreprocessing if no
/// size is known.
Preprocessing choose_preprocessing(const Preprocessing& asked, const Preprocessing& stated, int64_t otherwise,
                                   const std::string& where);

/// Returns the requested preprocessing at the image size that a graph is made for (0: any); logs if it differs.
Preprocessing fitting_side(const Preprocessing& asked, int64_t side, const std::string& where);

}  // namespace protocom
