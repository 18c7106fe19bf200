#pragma once
#include <filesystem>

#include "datasets/boxes.h"
#include "datasets/image_dataset.h"

namespace protocom {

/// Lists images as list_images does, with the boxes of the images in their place, each named by its region. If the
/// kinds of a file are classes (BoxFile::kinds_are_classes) these are the classes, and the images are those below
/// `root`. Throws what list_images, read_boxes and crop_photos throw.
ImageDataset list_boxed_images(const std::filesystem::path& root, const ImageDatasetOptions& options,
                               const BoxChoice& choice);

}  // namespace protocom
