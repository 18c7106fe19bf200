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

/// What decides where a list has several classes for an image, and where the photos' keywords are the list.
struct ListChoices {
  /// The question whose answers are the classes, by its name in Label Studio's project; empty: the only one.
  std::string question = {};
  /// Whose answers count, by an annotator's number or address; "majority": those of most; empty: all agree.
  std::string annotator = {};
  /// What names the classes of a folder: "keywords", "keywords:2" (their second level), "keywords:Animals|Birds" (the
  /// level below); empty: its folders or a list.
  std::string classes_from = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::BoxChoice;
using v0::ListChoices;
}  // namespace protocom
