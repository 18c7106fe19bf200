#pragma once
#include <filesystem>

#include "base/progress.h"
#include "datasets/image_dataset.h"
#include "datasets/packed_images.h"
#include "images/preprocessing.h"
#include "protocom/photo_choices.h"

namespace protocom {

/// The source of images: a pack, or a folder that is packed in memory.
struct ImageSource {
  std::filesystem::path path;
  ImageDatasetOptions dataset;  ///< for a folder; a pack has its own split and layout
  Preprocessing sizes = {};     ///< image_size 0: the pack's own, or that of PackOptions; resize is for folders
  bool strict = false;          ///< for a folder, see PackOptions
  BoxChoice boxes = {};         ///< for a folder's images
};

/// Loads the images of a source; logs files of a folder that are not images. Throws UsageError if another size, split
/// or layout is requested than a pack has, and what read_pack, list_images and pack_images throw.
PackedImages load_images(const ImageSource& source, Progress& progress);

}  // namespace protocom
