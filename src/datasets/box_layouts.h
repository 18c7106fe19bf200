#pragma once
#include <filesystem>

namespace protocom {

/// The boxes in a folder of photos that are kept as data sets of detectors are, for read_boxes: `folder` itself where
/// it has images and YOLO's labels, or JPEGImages (or images) and Pascal VOC's Annotations; the one list of objects in
/// annotations/ of COCO. Empty: it is not such a folder. Throws Error if there are several such lists.
std::filesystem::path boxes_beside(const std::filesystem::path& folder);

}  // namespace protocom
