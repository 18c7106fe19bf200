#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "protocom/export.h"

namespace protocom::v0 {

/// Default of BoxChoice::margin.
inline constexpr double kBoxMargin = 0.1;

/// Selects the boxes of a file that count as separate photos.
struct BoxChoice {
  /// MegaDetector's or COCO's JSON, a CSV image,x,y,width,height[,class], Pascal VOC's XML or a folder of it, or a
  /// folder of YOLO's labels; empty: none, images are whole.
  std::filesystem::path file = {};
  double min_confidence = 0.2;          ///< applies to boxes that have a confidence
  std::vector<std::string> kinds = {};  ///< kinds of boxes, as named in the file; empty: all
  /// Margin on each side of a box, as a share of its longer side, 0 to 1: use one value to enrol and to classify.
  double margin = kBoxMargin;
};

/// How to choose where a list has several classes for an image, and how photos' keywords name the classes.
struct ListChoices {
  /// Name of the question in Label Studio's project whose answers are the classes; empty: the only one.
  std::string question = {};
  /// Number or address of the annotator whose answers count; "majority": the most frequent answer; empty: all must
  /// agree.
  std::string annotator = {};
  /// Source of the classes of a folder: "keywords", "keywords:2" (their second level), "keywords:Animals|Birds" (the
  /// level below); empty: its folders or a list.
  std::string classes_from = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::BoxChoice;
using v0::ListChoices;
}  // namespace protocom
