#pragma once
#include <filesystem>

namespace protocom {

/// Finds the boxes in a folder of photos with the layout of a detection data set, for read_boxes: `folder` itself if it
/// has images and YOLO's labels, or JPEGImages (or images) and Pascal VOC's Annotations; the single list of objects in
/// annotations/ of COCO. Empty: it is not such a folder. Throws Error if there are several such lists.
std::filesystem::path boxes_beside(const std::filesystem::path& folder);

}  // namespace protocom
