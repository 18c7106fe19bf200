#pragma once
#include <filesystem>

#include "base/progress.h"
#include "datasets/image_dataset.h"
#include "datasets/packed_images.h"
#include "images/preprocessing.h"
#include "protocom/photo_choices.h"

namespace protocom {

/// Where images come from: a pack, or a folder that is packed in memory.
struct ImageSource {
  std::filesystem::path path;
  ImageDatasetOptions dataset;  ///< of a folder; a pack brings its own split and layout
  Preprocessing sizes = {};     ///< image_size 0: the pack's own, or that of PackOptions; resize is for folders
  bool strict = false;          ///< of a folder, see PackOptions
  BoxChoice boxes = {};         ///< of a folder's images
};

/// The images of a source; files of a folder that are not images are logged. Throws UsageError when a pack is requested
/// another size, split or layout than its own, and what read_pack, list_images and pack_images throw.
PackedImages load_images(const ImageSource& source, Progress& progress);

}  // namespace protocom
