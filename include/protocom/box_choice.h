#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "protocom/export.h"

namespace protocom::v0 {

/// Which boxes of a file count as separate photos.
struct BoxChoice {
  /// MegaDetector's or COCO's JSON, a CSV image,x,y,width,height[,class], Pascal VOC's XML or a folder of it, or a
  /// folder of YOLO's labels; empty: none, images are whole.
  std::filesystem::path file = {};
  double min_confidence = 0.2;          ///< of boxes that have a confidence
  std::vector<std::string> kinds = {};  ///< kinds of boxes, as named in the file; empty: all
};

}  // namespace protocom::v0

namespace protocom {
using v0::BoxChoice;
}  // namespace protocom
