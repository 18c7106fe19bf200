#pragma once
#include "dataset_options.h"
#include "protocom/data/packed_images.h"

namespace protocom::cli {

/// The images of a pack, or of a folder packed in memory at `image_size` pixels a side (0: the default size). A pack
/// has its own size, split and layout: asking for others is a UsageError. Adds the content's hash to the inputs of
/// `provenance`.
PackedImages load_images(const DatasetOptions& source, int64_t image_size, Provenance& provenance);

}  // namespace protocom::cli
