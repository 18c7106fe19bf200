#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "protocom/core/artefact.h"
#include "protocom/data/packed_images.h"

namespace protocom::cli {

/// Where a command takes its images from: a pack, or a folder that is packed in memory.
struct ImageSource {
  std::string images, split, standard_split;
  std::string layout = "auto";
};

/// --images and, for folders, --layout, --split and --standard-split.
void add_image_source(CLI::App& command, ImageSource& source);

/// The images at `image_size` pixels a side; a pack has its own size, and another `image_size` (unless 0) is a UsageError. The inputs are added to
/// `provenance`.
PackedImages load_images(const ImageSource& source, int64_t image_size, Provenance& provenance);

}  // namespace protocom::cli
